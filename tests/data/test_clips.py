"""What `clips` promises: the same bytes everywhere, things that move as is said, long tails, honest labels."""

import re
import subprocess
import sys

import numpy as np
import pytest
from benchsuite.data.clips import dataset, drawing, grammar, world
from benchsuite.data.scenes import grammar as scenes_grammar

from benchsuite.data import clips, create_dataset
from benchsuite.data.synthetic.scene_drawing import PAINT
from benchsuite.data.synthetic.scene_world import COLOURS, GROUNDS, PATTERNS, SHAPES

SIZES = {"train": 40, "validation": 6, "test": 6}
SMALL = "9f815d78b335e03fa14fc67ea122e031d77753e28dda74c9516057db5f9efd7f"
DEFAULT = "2c2f8c0447ea15f91957b1c893ffcb45c3381c5b187e8c738cbff5067ef456a3"
MEANING = {
    word: name
    for lexicon in (scenes_grammar.HUES, scenes_grammar.NOUNS, scenes_grammar.SOILS, scenes_grammar.WEAVES)
    for name, words in lexicon.items()
    for word in words
}


def digest(seed, sizes=SIZES):
    return clips.describe(clips.generate(seed, sizes), seed)["digest"]


def test_digest_of_a_small_world_is_pinned():
    assert digest(0) == SMALL


def test_digest_of_the_default_world_is_pinned():
    assert digest(dataset.SEED, dataset.SPLITS) == DEFAULT


def test_same_seed_same_bytes_and_other_seed_other_bytes():
    assert digest(3) == digest(3)
    assert len({digest(3), digest(4), digest(3 + 2**32)}) == 3


def test_a_short_split_is_the_beginning_of_a_long_one_and_depends_on_no_other():
    short, long = clips.generate(5, {"test": 7})["test"], clips.generate(5, {"train": 9, "test": 150})["test"]
    assert (short.images == long.images[:7]).all()
    assert short.captions == long.captions[:7]
    assert (short.nouns == long.nouns[:7]).all()


def test_splits_show_different_clips():
    splits = clips.generate(0, SIZES)
    seen = [{film.tobytes() for film in split.images} for split in splits.values()]
    assert sum(map(len, seen)) == len(set.union(*seen)) == sum(SIZES.values())


@pytest.mark.parametrize(
    ("column", "count", "shift"), [(0, len(world.VERBS), world.VERB_SHIFT), (1, world.NOUNS, world.NOUN_SHIFT)]
)
def test_verbs_and_nouns_follow_zipf(column, count, shift):
    ranks = np.argsort(world.classes_by_rank(0)[column])[world.imagine(0, 0, 40_000).facts[:, column]]
    weights = world.zipf_weights(count, shift) / world.zipf_weights(count, shift).sum()
    seen = np.bincount(ranks, minlength=count) / 40_000
    assert (abs(seen - weights) < 4 * np.sqrt(weights * (1 - weights) / 40_000)).all()
    assert weights[0] > 6 * weights[-1]


def test_pairs_of_verb_and_noun_have_a_long_tail():
    sizes = np.bincount(clips.generate(0, {"train": 3000})["train"].labels["verb_noun"], minlength=world.VERB_NOUNS)
    ordered = np.sort(sizes)[::-1]
    assert ordered[:48].sum() > 3000 / 3
    assert (sizes <= 2).sum() > world.VERB_NOUNS / 5


def test_labels_are_those_of_the_moved_object():
    split, facts = clips.generate(0, SIZES)["train"], world.imagine(0, 0, SIZES["train"]).facts
    assert (split.labels["verb"] == facts[:, 0]).all()
    assert (split.labels["noun"] == facts[:, 1]).all()
    assert (split.labels["verb_noun"] == facts[:, 0] * world.NOUNS + facts[:, 1]).all()
    assert (split.nouns == facts[:, 1:3]).all()
    assert (split.nouns[:, 0] != split.nouns[:, 1]).all()
    assert 0.2 < (split.nouns[:, 1] == world.NO_OTHER).mean() < 0.8


@pytest.fixture(scope="module")
def drawn():
    return world.imagine(7, 0, 300)


def seen_at(drawn, i):
    """Centre and size of the moved object as painted, frame by frame; None where it cannot be seen."""
    one = drawn.slice(i, i + 1)
    colour = np.array(PAINT)[one.facts[0, 1] // 10] + (one.tint[0, :3] % 25 - 12)
    for frame in drawing.paint(one, _Quiet())[0].astype(int):
        rows, columns = np.nonzero((abs(frame - np.clip(colour, 0, 255)) <= 1).all(-1))
        yield (columns.mean(), rows.mean(), len(rows)) if len(rows) else None


class _Quiet:
    """Grain of one value."""

    def bytes(self, count):
        return b"\x06" * count


def places(verb, drawn):
    alone = (drawn.facts[:, 0] == world.VERBS.index(verb)) & (drawn.facts[:, 2] == world.NO_OTHER)
    chosen = np.flatnonzero(alone)[:4].tolist()
    assert chosen
    return [list(seen_at(drawn, i)) for i in chosen]


@pytest.mark.parametrize(
    ("verb", "axis", "sign"),
    [
        ("move-left", 0, -1),
        ("move-right", 0, 1),
        ("raise", 1, -1),
        ("lower", 1, 1),
        ("enlarge", 2, 1),
        ("shrink", 2, -1),
    ],
)
def test_what_is_said_to_move_or_grow_does(verb, axis, sign, drawn):
    for found in places(verb, drawn):
        values = np.array([place[axis] for place in found]) * sign
        assert (np.diff(values) >= 0).all()
        assert values[-1] - values[0] > 8
        if axis < 2:
            assert np.ptp([place[1 - axis] for place in found]) < 0.01


def test_what_comes_goes_or_blinks_does(drawn):
    for verb, patterns in (("put", "0" * 5 + "1" * 5), ("take", "1" * 5 + "0" * 5), ("blink", "0011" * 3)):
        for found in places(verb, drawn):
            seen = "".join("0" if place is None else "1" for place in found)
            assert seen in patterns, verb
            assert 2 < seen.count("1") < 6


def test_what_is_shaken_bounced_or_whirled_goes_to_and_fro(drawn):
    for verb, width, height in (("shake", 8, 0), ("bounce", 0, 16), ("whirl", 18, 18)):
        for found in places(verb, drawn):
            x, y, _ = np.array(found).T
            assert (round(np.ptp(x)), round(np.ptp(y))) == (width, height)


def test_no_two_verbs_move_an_object_alike():
    pose = [1] * 8
    assert len({tuple(world.path(verb, pose)) for verb in range(len(world.VERBS))}) == len(world.VERBS)


def test_objects_stay_inside_and_the_second_one_is_never_hidden_throughout():
    drawn = world.imagine(1, 0, 1500)
    for clip, pose in zip(drawn, drawn.pose.tolist(), strict=True):
        aside, boxes = world.corner(pose), [box for box in world.path(clip.verb, pose) if box]
        for box in [aside, *boxes]:
            assert min(box.left, box.top) >= 0
            assert max(box.left, box.top) + box.side <= world.SIDE
        covered = [
            max(0, min(box.left + box.side, aside.left + 9) - max(box.left, aside.left))
            * max(0, min(box.top + box.side, aside.top + 9) - max(box.top, aside.top))
            for box in boxes
        ]
        assert min(covered) <= 40


def read(text):
    """(verb, [nouns], ground or None, pattern or None) by name."""
    text, _, soil = text.partition(" on ")
    text, *beside = re.split(r" (?:near|beside|by) ", text)
    fits = [
        (verb, found[1])
        for verb, forms in grammar.DOING.items()
        for form in forms
        if (found := re.fullmatch(form.replace("{}", r"((?:the )?\w+ \w+)"), text))
    ]
    assert len({verb for verb, _ in fits}) == 1, text
    nouns = [" ".join(MEANING[word] for word in noun.removeprefix("the ").split()) for noun in (fits[0][1], *beside)]
    told = [MEANING[word] for word in soil.split()]
    return fits[0][0], nouns, told


def test_every_narration_is_true_and_names_verb_and_nouns():
    drawn, split = list(world.imagine(11, 2, 400)), clips.generate(11, {"test": 400})["test"]
    for clip, captions, paraphrases in zip(drawn, split.captions, split.paraphrases, strict=True):
        nouns = [grammar.CLASS_NAMES["noun"][noun] for noun in (clip.noun, clip.other) if noun != world.NO_OTHER]
        here = [PATTERNS[clip.pattern], GROUNDS[clip.ground]]
        assert len(captions) == len(paraphrases) == 5
        for text in captions + paraphrases:
            verb, said, ground = read(text)
            assert (verb, said) == (world.VERBS[clip.verb], nouns), text
            assert ground in ([], here[1:], here), text


def test_wordings_vary_and_paraphrases_are_drawn_apart():
    split = clips.generate(0, SIZES)["train"]
    assert np.mean([len(set(texts)) for texts in split.captions]) > 3
    assert split.captions != split.paraphrases


def test_class_names_are_in_the_order_of_the_labels():
    names = grammar.CLASS_NAMES
    assert [len(names[key]) for key in dataset.LABELS] == [12, 40, 480]
    assert names["noun"][13] == f"{COLOURS[1]} {SHAPES[3]}"
    assert names["verb"][9] == "put down"
    assert names["verb_noun"][9 * 40 + 13] == f"put down {COLOURS[1]} {SHAPES[3]}"
    assert names["verb_noun"][0] == "move red circle left"


def test_reads_back_what_was_generated(tmp_path):
    made, path = clips.generate(1, SIZES), clips.build(tmp_path, 1, SIZES)
    read_back = clips.load(path)
    assert clips.manifest(path) == clips.describe(made, 1)
    assert clips.build(tmp_path, 1, SIZES) == path
    assert clips.verify(path) == []
    for name, split in read_back.items():
        assert split.digest() == made[name].digest()
        assert split.images.shape == (SIZES[name], 8, 32, 32, 3)


def test_a_changed_split_is_named_and_another_request_is_another_build(tmp_path):
    path, other = clips.build(tmp_path, 1, SIZES), clips.build(tmp_path, 2, SIZES)
    assert path != other
    told, file = clips.manifest(path)["digests"]["test"], path / "manifest.json"
    file.write_text(file.read_text().replace(told, "0" * 64))
    assert clips.verify(path) == ["test"]


def test_a_failed_build_leaves_nothing(tmp_path, monkeypatch):
    def fail(*_):
        raise RuntimeError("disk on fire")

    monkeypatch.setattr(dataset, "describe", fail)
    with pytest.raises(RuntimeError, match="disk on fire"):
        clips.build(tmp_path, 1, SIZES)
    assert list(tmp_path.iterdir()) == []


def test_the_registered_dataset_has_labels_for_clusters_and_for_relevancy():
    data = create_dataset("clips", train=30, validation=4, test=5)
    assert dict(data.manifest().splits) == {"train": 30, "validation": 4, "test": 5}
    split = data.split("test")
    assert {name: ids.shape for name, ids in split.labels.items()} == {
        "verb": (5,), "noun": (5,), "verb_noun": (5,), "nouns": (5, 2)
    }  # fmt: skip
    assert split.images.shape == (5, 8, 32, 32, 3)


def test_torch_stays_away(tmp_path):
    script = (
        "import sys; from pathlib import Path; from benchsuite.data import clips\n"
        "clips.load(clips.build(Path(sys.argv[1]), 0, {'train': 4}))\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"seed": -1}, "seed must be at least 0"),
        ({"sizes": {"trian": 5}}, "no split 'trian'"),
        ({"sizes": {"train": 0}}, "train split must hold at least one clip, not 0"),
    ],
)
def test_nonsense_is_refused(tmp_path, arguments, told):
    for call in (lambda: clips.generate(**arguments), lambda: clips.build(tmp_path, **arguments)):
        with pytest.raises(ValueError, match=told):
            call()
