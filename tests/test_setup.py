import copy
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from benchsuite.canonical import canonical
from benchsuite.setup import Setup, differences

OTHER_DATA = {"name": "cifar10", "options": {"folder": "x"}, "version": 1, "digest": "def", "redrawn": ""}
PLAIN: dict[str, Any] = {
    "data": {"name": "scenes", "options": {"train": 64, "test": 8}, "version": 1, "digest": "abc", "redrawn": ""},
    "image": {
        "timm": "test_resnet",
        "mlp": None,
        "options": {"depth": 4},
        "pretrained": False,
        "mean": [0.5, 0.5, 0.5],
        "std": [0.5, 0.5, 0.5],
        "stem": None,
        "frames": None,
    },
    "text": {
        "transformer": "distilbert",
        "mlp": None,
        "config": {"dim": 64},
        "pretrained": False,
        "pool": "first",
        "max_tokens": 30,
        "vocabulary": 400,
    },
    "projection": {"width": 64, "hidden": 128},
    "optimizer": {
        "name": "adamw",
        "lr": 0.002,
        "weight_decay": 0.02,
        "betas": [0.9, 0.98],
        "momentum": 0.9,
        "eps": 1e-8,
        "decay_vectors": False,
    },
    "schedule": {"warmup_steps": 5, "final_lr": 0.0},
    "augmentation": {
        "crop": [0.7, 1.0],
        "flip": False,
        "brightness": 0.1,
        "contrast": 0.1,
        "saturation": 0.1,
        "hue": 0.1,
        "jitter": 0.8,
        "grayscale": 0.2,
        "text_view": "paraphrase",
        "mask": 0.0,
        "noise": 0.0,
    },
    "training": {
        "batch": 64,
        "steps": 30,
        "window": None,
        "accumulation": 1,
        "precision": "fp32",
        "compiled": False,
        "zero_stage": 0,
        "overlap": False,
        "processes": 1,
        "clip_gradient": 0.0,
    },
    "temperature_factor": 1.0,
    "protocols": {
        "retrieval": {"task": "retrieval", "version": 1, "options": {"split": "test"}, "data": OTHER_DATA, "every": 5}
    },
    "clusters": {"labels": "shape", "embedding": "tfidf-svd", "options": {"dimensions": 8}, "k": 20, "seed": 0},
    "experts": {
        "image": {"embedding": "pixel-svd", "options": {"dimensions": 8}},
        "text": {"embedding": "tfidf-svd", "options": {"dimensions": 8}},
    },
    "selection": "last",
}
OTHER: dict[str, Any] = {
    "text.pool": "mean",
    "training.precision": "bf16",
    "training.compiled": True,
    "training.window": 5000,
    "training.zero_stage": 1,
    "augmentation.crop": [0.5, 1.0],
    "optimizer.name": "sgd",
    "optimizer.betas": [0.9, 0.99],
    "augmentation.text_view": "dropout",
    "image.mean": [0.4, 0.5, 0.5],
    "image.std": [0.4, 0.5, 0.5],
    "image.stem": "cifar",
    "image.frames": "mean",
}
ONLY_CHOICE = {"selection"}
COUPLED = {"text.pretrained", "training.overlap", "image.mlp", "text.mlp"}


def leaves(part: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in part.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


LEAVES = dict(leaves(PLAIN))


def changed(path: str, value: Any) -> dict[str, Any]:
    plain = copy.deepcopy(PLAIN)
    *parents, key = path.split(".")
    part = plain
    for name in parents:
        part = part[name]
    part[key] = value
    return plain


def another(path: str) -> Any:
    value = LEAVES[path]
    if path in OTHER:
        return OTHER[path]
    if isinstance(value, bool):
        return not value
    return value + "x" if isinstance(value, str) else value + 1 if isinstance(value, int) else value / 2 + 0.013


def make(plain: Mapping[str, Any] = PLAIN) -> Setup:
    return Setup.model_validate(plain)


def test_the_example_names_every_field_there_is() -> None:
    assert make().model_dump(mode="json") == PLAIN


@pytest.mark.parametrize("path", sorted(set(LEAVES) - ONLY_CHOICE - COUPLED))
def test_every_field_is_part_of_the_identity_and_shown_as_the_difference(path: str) -> None:
    other = make(changed(path, another(path)))
    assert other.setup_id != make().setup_id
    assert list(differences(make().model_dump(mode="json"), other.model_dump(mode="json"))) == [path]


def test_the_identity_of_a_setup_lasts() -> None:
    before_every = changed("protocols.retrieval.every", None)
    assert make(before_every).setup_id == "4b893ec0a5937d7e"


@pytest.mark.parametrize("deep", [False, True])
def test_a_copy_that_differs_has_an_identity_of_its_own(deep: bool) -> None:
    setup = make()
    before = setup.setup_id
    copy = setup.model_copy(update={"temperature_factor": 7.0}, deep=deep)
    assert copy.setup_id == make(changed("temperature_factor", 7.0)).setup_id != before
    assert setup.setup_id == before
    assert setup.model_copy() == setup == make()


def test_settings_at_their_defaults_are_no_part_of_the_identity() -> None:
    plain = {key: PLAIN[key] for key in ("data", "image", "projection", "optimizer", "training", "protocols")}
    spelled = {**plain, "temperature_factor": 1.0, "selection": "last", "clusters": None}
    assert make(plain).setup_id == make(spelled).setup_id


@pytest.mark.parametrize("change", [{"layers": 2}, {"hidden": 64}])
@pytest.mark.parametrize("side", ["image", "text"])
def test_another_mlp_is_another_setup(side: str, change: dict[str, int]) -> None:
    one, two = ({**PLAIN, side: {"mlp": mlp}} for mlp in ({}, change))
    assert make(one).setup_id != make(two).setup_id != make().setup_id


def test_a_pretrained_text_tower_is_another_setup() -> None:
    plain = changed("text.pretrained", True)
    plain["text"]["vocabulary"] = None
    found = differences(PLAIN, make(plain).model_dump(mode="json"))
    assert make(plain).setup_id != make().setup_id
    assert found == {"text.pretrained": (False, True), "text.vocabulary": (400, None)}


def test_a_side_of_a_pretrained_model_is_known_by_its_weights() -> None:
    """Each of its settings is part of the identity, but for where the model lies."""
    side = {"model": "transformers:clip", "weights": "abc"}
    changes = [{}, {"weights": "def"}, {"train": "lora"}, {"lora": {"rank": 4}}, {"projection": "new"}]
    made = [make({**PLAIN, "image": {**side, **change}}) for change in changes]
    assert len({setup.setup_id for setup in made}) == len(changes)
    assert make({**PLAIN, "image": {**side, "place": "/here"}}).setup_id == made[0].setup_id
    assert [Setup.model_validate(setup.model_dump(mode="json")).setup_id for setup in made] == [
        setup.setup_id for setup in made
    ]


def test_a_folder_of_a_text_encoder_is_known_by_its_weights() -> None:
    text = {"transformer": "bert", "pretrained": True, "weights": "abc"}
    made = make({**PLAIN, "text": text})
    assert make({**PLAIN, "text": {**text, "place": "/here"}}).setup_id == made.setup_id
    assert make({**PLAIN, "text": {**text, "weights": "def"}}).setup_id != made.setup_id
    assert Setup.model_validate(made.model_dump(mode="json")).setup_id == made.setup_id


@pytest.mark.parametrize(
    "tower", [{}, {"model": "transformers:clip", "timm": "test_vit"}, {"timm": "test_vit", "projection": "new"},
              {"model": "transformers:clip", "train": "last"}, {"model": "transformers:clip", "mlp": {}}]
)  # fmt: skip
def test_a_tower_is_one_thing(tower: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        make({**PLAIN, "image": tower})


def test_replicates_that_draw_their_data_share_a_setup() -> None:
    def drawn(seed: int, digest: str, train: int = 64, redrawn: str = "seed") -> Setup:
        options = {"train": train, "seed": seed}
        return make({**PLAIN, "data": {**PLAIN["data"], "options": options, "digest": digest, "redrawn": redrawn}})

    one, two = drawn(1, "abc"), drawn(2, "def")
    assert (one.setup_id, one.shared_id) == (two.setup_id, two.shared_id)
    assert drawn(1, "abc", train=65).setup_id != one.setup_id
    assert drawn(1, "abc", redrawn="").setup_id != drawn(2, "abc", redrawn="").setup_id
    assert one.data.drawn == {"data": "abc"}
    assert drawn(1, "abc", redrawn="").data.drawn == {}


def reordered(part: Any) -> Any:
    return {key: reordered(part[key]) for key in reversed(part)} if isinstance(part, dict) else part


@pytest.mark.parametrize(
    "plain",
    [
        reordered(PLAIN),
        json.loads(json.dumps(PLAIN)),
        json.loads(make().model_dump_json()),
        changed("temperature_factor", 1),
        changed("training.clip_gradient", -0.0),
        changed("data.options.train", 64.0),
        changed("augmentation.crop", (0.7, 1)),
        {key: value for key, value in PLAIN.items() if key not in ("temperature_factor", "selection")},
    ],
    ids=["order", "json", "round trip", "int", "minus zero", "float", "tuple", "defaults"],
)
def test_another_spelling_is_the_same_setup(plain: dict[str, Any]) -> None:
    assert make(plain).setup_id == make().setup_id
    assert differences(make(plain).model_dump(mode="json"), make().model_dump(mode="json")) == {}


def test_a_setup_is_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        make().temperature_factor = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("training.batch", 1),
        ("training.steps", 0),
        ("training.precision", "fp8"),
        ("training.zero_stage", 3),
        ("optimizer.lr", 0),
        ("optimizer.lr", float("nan")),
        ("augmentation.crop", [0.0, 1.0]),
        ("augmentation.brightness", 1.5),
        ("temperature_factor", 0),
        ("projection.width", 0),
        ("protocols", {}),
        ("text.vocabulary", None),
        ("text.pretrained", True),
        ("selection", "best"),
        ("training.stepz", 3),
    ],
)
def test_a_setup_that_cannot_be_is_refused(path: str, value: Any) -> None:
    with pytest.raises(ValidationError, match=path.rsplit(".", 1)[0]):
        make(changed(path, value))


def test_differences_are_named_by_dotted_path_with_both_values() -> None:
    left = {"a": {"b": 1, "c": [1, 2]}, "d": 1, "same": {"x": 1}}
    right = {"a": {"b": 2, "c": [1, 3]}, "e": 5, "same": {"x": 1}}
    assert differences(left, right) == {"a.b": (1, 2), "a.c": ([1, 2], [1, 3]), "d": (1, None), "e": (None, 5)}


PLAIN_DATA = st.dictionaries(
    st.sampled_from("abc"),
    st.recursive(
        st.integers(0, 3) | st.floats(0, 3) | st.text("xy", max_size=2),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
        max_leaves=6,
    ),
    max_size=3,
)


@given(PLAIN_DATA, PLAIN_DATA)
def test_there_are_differences_exactly_where_identities_differ(left: dict[str, Any], right: dict[str, Any]) -> None:
    for a, b in ((left, right), (left, copy.deepcopy(left))):
        assert (canonical(a) == canonical(b)) == (differences(a, b) == {})


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({"a": True}, {"a": 1}),
        ({"a": None}, {}),
        ({"a": [0]}, {"a": [False]}),
        ({"a": {}}, {}),
        ({"a": {"b": 1}}, {"a": 3}),
    ],
)
def test_near_equals_of_different_identity_differ(left: dict[str, Any], right: dict[str, Any]) -> None:
    assert canonical(left) != canonical(right)
    assert list(differences(left, right)) == ["a"]


@pytest.mark.parametrize("name", ["adamp", "sgdp", "nvnovograd", "lars"])
def test_optimizers_of_whole_layers_do_not_go_with_zero(name: str) -> None:
    plain = changed("optimizer.name", name)
    assert make(plain).optimizer.name == name
    plain["training"]["zero_stage"] = 1
    with pytest.raises(ValidationError, match=f"zero_stage = 1: {name} has norms or projections of whole layers"):
        make(plain)
