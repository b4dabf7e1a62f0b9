import dataclasses
import hashlib
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from sklearn.cluster import MiniBatchKMeans
from support.real_files import image_files, png

from benchsuite.data import prepared
from benchsuite.data.base import Split
from benchsuite.data.embeddings import create_embedding
from benchsuite.data.embeddings.encoders import TfidfSvd
from benchsuite.data.prepared import Prepared
from benchsuite.data.readers.images import LazyClips, LazyImages
from benchsuite.data.vectors import Rows, VectorLists
from benchsuite.errors import UsageError
from benchsuite.setup import Clusters, Data, Expert, Experts, Optimizer, Protocol, Setup, Training
from benchsuite.tower_settings import ImageTower

THEMES = ("red circle on sand", "blue square in the sea", "green tree near a hill")


def split(captions: Sequence[Sequence[str]] | None = None) -> Split:
    texts = captions or [[f"{THEMES[i % 3]} {i}", THEMES[i % 3]] for i in range(12)]
    pictures = np.random.default_rng(0).integers(0, 256, (len(texts), 4, 4, 3), dtype=np.uint8)
    return Split("train", pictures, texts, labels={"theme": np.arange(len(texts)) % 3})


def setup(digest: str, clusters: Clusters | None = None, experts: Experts | None = None) -> Setup:
    return Setup(
        data=Data(name="made-up", digest=digest),
        image=ImageTower(timm="test_vit"),
        projection={"width": 8},  # type: ignore[arg-type]
        optimizer=Optimizer(lr=0.1),
        training=Training(batch=2, steps=1),
        protocols={"retrieval": Protocol(task="retrieval")},
        clusters=clusters,
        experts=experts,
    )


def prepare(request: Setup, part: Split) -> Prepared:
    return prepared.prepare(request, part, {"cluster", "image_expert", "text_expert"})


def test_nothing_asked_for_is_nothing_prepared() -> None:
    assert prepare(setup("none"), split()) == Prepared()


def test_captions_of_one_theme_share_a_cluster_and_sizes_count_images() -> None:
    found = prepare(setup("themes", Clusters(k=3)), split())
    assert found.cluster is not None
    groups = [set(found.cluster[theme::3].tolist()) for theme in range(3)]
    assert all(len(group) == 1 for group in groups)
    assert len(set.union(*groups)) == 3
    assert found.cluster_sizes == (4, 4, 4)


def test_captions_are_clustered_by_direction_and_not_by_length(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.array([[1, 0], [10, 0], [0, 1], [0, 10]], np.float32)
    monkeypatch.setattr("benchsuite.data.embeddings.encoders.TfidfSvd.texts", lambda self, texts: rows)
    found = prepare(setup("lengths", Clusters(k=2)), split([["a"], ["b"], ["c"], ["d"]])).cluster
    assert found is not None
    assert found[0] == found[1] != found[2] == found[3]


def test_given_classes_are_clusters_too() -> None:
    found = prepare(setup("classes", Clusters(labels="theme")), split())
    assert found.cluster is not None
    assert found.cluster.tolist() == [i % 3 for i in range(12)]


def test_a_second_call_reads_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    request = setup("cached", Clusters(k=3), Experts(text=Expert(embedding="tfidf-svd")))
    before = prepare(request, split())
    monkeypatch.setattr("benchsuite.data.embeddings.encoders.TfidfSvd.texts", None)
    again = prepare(request, split())
    assert again.digests() == before.digests()
    assert before.digests().keys() == {"clusters", "text_expert"}


def test_a_new_version_of_an_embedding_is_not_the_cached_one(monkeypatch: pytest.MonkeyPatch) -> None:
    request = setup("versions", Clusters(k=3), Experts(text=Expert(embedding="tfidf-svd")))
    before = prepare(request, split())
    card = dataclasses.replace(TfidfSvd.card, about={**TfidfSvd.card.about, "version": 2})
    monkeypatch.setattr(TfidfSvd, "card", card)
    monkeypatch.setattr(TfidfSvd, "texts", lambda self, texts: np.eye(len(list(texts)), dtype=np.float32))
    after = prepare(request, split())
    assert not {*before.digests().values()} & {*after.digests().values()}


def test_another_split_of_the_same_data_is_prepared_anew() -> None:
    first, other = split([["a b"], ["c d"], ["c d"]]), split([["a b"], ["a b"], ["c d"]])
    other = dataclasses.replace(other, name="other")
    found = [prepare(setup("splits", Clusters(k=2)), part).digests() for part in (first, other)]
    assert found[0] != found[1]


def test_the_seed_of_the_clusters_counts() -> None:
    digests = [prepare(setup("seeds", Clusters(k=3, seed=seed)), split()).digests()["clusters"] for seed in range(5)]
    assert len(set(digests)) > 1


def test_an_experts_row_is_the_mean_over_the_images_captions() -> None:
    captions = [[THEMES[0]], [THEMES[1], THEMES[2]], [THEMES[2], THEMES[0], THEMES[1]]] * 2
    expert = Expert(embedding="tfidf-svd", options={"dimensions": 2})
    rows = prepare(setup("means", experts=Experts(text=expert)), split(captions)).text_expert
    assert rows is not None
    texts = [text for texts in captions for text in texts]
    each = chain.from_iterable(create_embedding("tfidf-svd", dimensions=2).texts(texts))
    expected = [np.mean([next(each) for _ in texts], axis=0) for texts in captions]
    np.testing.assert_allclose(rows, expected, atol=1e-5)


def test_of_many_texts_the_first_ones_say_what_words_weigh(monkeypatch: pytest.MonkeyPatch) -> None:
    embedding = create_embedding("tfidf-svd", dimensions=2)
    fitted = [*THEMES, *THEMES[:2]]
    alone = np.concatenate([*embedding.texts(fitted)])
    monkeypatch.setattr("benchsuite.data.embeddings.encoders.FITTED", len(fitted))
    monkeypatch.setattr("benchsuite.data.embeddings.encoders.BLOCK", 2)
    rows = np.concatenate([*embedding.texts(iter([*fitted, *reversed(fitted), "unheard of"]))])
    np.testing.assert_array_equal(rows[: len(fitted)], alone)
    np.testing.assert_allclose(rows[len(fitted) : -1], alone[::-1], atol=1e-6)
    assert not rows[-1].any()


@pytest.mark.parametrize("block", [1, 5, 100])
def test_experts_and_clusters_are_mapped_and_equal_however_they_are_cut(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No process holds the rows of all images: ten million of 768 numbers are 31 GB."""
    monkeypatch.setattr("benchsuite.data.embeddings.encoders.BLOCK", block)
    vectors = np.random.default_rng(0).standard_normal((40, 3), np.float32)
    starts, counts = np.array([0, 1, 4, 6, 13, 14, 29, 34, 35, 38]), np.array([1, 3, 2, 7, 1, 15, 5, 1, 3, 2])
    texts = VectorLists(Rows([vectors], normalize=False, where=""), starts, counts)
    pictures = np.random.default_rng(1).standard_normal((10, 2, 3), np.float32)
    both = Experts(image=Expert(embedding="given"), text=Expert(embedding="given"))
    request = setup(f"mapped {block}", Clusters(k=2, embedding="given"), both)
    found = prepare(request, Split("train", pictures, texts))
    assert all(isinstance(rows, np.memmap) for rows in (found.cluster, found.image_expert, found.text_expert))
    assert np.array_equal(found.image_expert, pictures[:, 0])  # type: ignore[arg-type]
    means = (np.add.reduceat(vectors, starts) / counts[:, None]).astype(np.float32)
    assert found.digests()["text_expert"] == hashlib.sha256(means.tobytes()).hexdigest()[:16]


def test_many_images_are_clustered_in_batches_as_few_are_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups that stand apart are found by both, in data whose order is that of the groups."""
    random, sizes = np.random.default_rng(0), [40, 90, 30, 240]
    rows = np.repeat(np.eye(4, dtype=np.float32), sizes, axis=0) + 0.1 * random.standard_normal((400, 4), np.float32)
    part = Split("train", rows[:, None], rows[:, None])
    request = [setup(f"many {way}", Clusters(k=4, embedding="given")) for way in ("at once", "in batches")]
    at_once = prepare(request[0], part)
    seen: list[int] = []
    fit = MiniBatchKMeans.partial_fit
    monkeypatch.setattr(MiniBatchKMeans, "partial_fit", lambda self, x: seen.append(len(x)) or fit(self, x))
    monkeypatch.setattr(prepared, "LARGE", 399)
    monkeypatch.setattr(prepared, "BATCH", 64)
    in_batches = prepare(request[1], part)
    assert set(seen) == {64}
    assert sorted(in_batches.cluster_sizes or ()) == sorted(at_once.cluster_sizes or ()) == sorted(sizes)
    assert in_batches.cluster is not None
    assert [len(set(own.tolist())) for own in np.split(in_batches.cluster, np.cumsum(sizes)[:-1])] == [1, 1, 1, 1]


@pytest.mark.parametrize("given", [11, 13])
def test_an_embedding_that_loses_or_adds_rows_is_refused(given: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.ones((given, 2), np.float32)
    monkeypatch.setattr("benchsuite.data.embeddings.encoders.TfidfSvd.texts", lambda self, texts: rows)
    for _ in range(2):  # and nothing of it is kept
        with pytest.raises(UsageError, match="more or fewer rows than there are texts"):
            prepare(setup("rows", experts=Experts(text=Expert(embedding="tfidf-svd"))), split([["a"]] * 12))


def test_a_pretrained_expert_is_any_timm_model() -> None:
    options = {"model": "test_vit", "pretrained": False}
    expert = create_embedding("timm", **options)
    assert next(iter(expert.images(np.zeros((2, 8, 8, 3), np.uint8)))).shape == (2, 64)


@pytest.mark.parametrize(
    ("clusters", "told"),
    [
        (Clusters(k=13), "13 clusters of 12 images"),
        (Clusters(labels="themes"), 'set of classes "themes" does not exist .*Did you mean "theme"'),
        (Clusters(embedding="tfidf", k=3), 'embedding "tfidf" does not exist .*Did you mean "tfidf-svd"'),
        (Clusters(embedding="pixel-svd", k=3), "pixel-svd embeds no texts"),
        (Clusters(k=3, options={"dimension": 3}), 'Did you mean "dimensions"'),
    ],
)
def test_what_cannot_be_clustered_is_refused(clusters: Clusters, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        prepare(setup("refused", clusters), split())


def test_a_model_that_is_not_here_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"text expert .*absent"):
        next(iter(create_embedding("transformer", model=str(tmp_path / "absent")).texts(["a"])))


def test_a_model_is_asked_for_only_where_no_cache_has_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(_: TfidfSvd) -> object:
        raise UsageError("its model is gone")

    monkeypatch.setattr(TfidfSvd, "load", load)
    expert = Expert(embedding="tfidf-svd")
    asked, rows = setup("asked for", experts=Experts(text=expert)), split()
    with pytest.raises(UsageError, match="its model is gone"):
        prepared.require_embedding(expert, "text", asked, rows)
    prepare(asked, rows)
    prepared.require_embedding(expert, "text", asked, rows)


def test_sets_of_classes_are_no_clusters() -> None:
    both = split()
    both.labels["sets"] = np.zeros((12, 2), np.int64)  # type: ignore[index]
    with pytest.raises(UsageError, match='split train: "sets" are sets of classes, not one class for each image'):
        prepare(setup("sets", Clusters(labels="sets")), both)


def test_an_expert_sees_a_clip_as_the_mean_of_its_frames() -> None:
    still = split()
    moving = Split("train", np.repeat(still.images[:, None], 3, axis=1), still.captions)
    experts = Experts(image=Expert(embedding="pixel-svd", options={"dimensions": 4}))
    found = [prepare(setup(name, experts=experts), one).image_expert for name, one in (("s", still), ("m", moving))]
    assert found[0] is not None
    assert found[1] is not None
    assert found[0].shape == found[1].shape
    np.testing.assert_allclose(np.abs(found[0]), np.abs(found[1]), atol=1e-3)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    still = np.random.default_rng(1).integers(0, 256, (12, 8, 8, 3), dtype=np.uint8)
    for i, picture in enumerate(still):
        (tmp_path / f"{i}.png").write_bytes(png(picture))
    return [tmp_path / f"{i}.png" for i in range(12)]


def test_an_image_expert_never_holds_more_images_than_its_batch(files: list[Path]) -> None:
    request: list[int] = []

    class Watched(LazyImages):
        def __getitem__(self, index: Any) -> Any:
            rows = super().__getitem__(index)
            request.append(len(rows))
            return rows

    lazy = Watched(12, 8, lambda i: Image.open(files[i]), str)
    options = {"model": "test_vit", "pretrained": False, "batch": 5}
    experts = Experts(image=Expert(embedding="timm", options=options))
    found = prepare(setup("lazy", experts=experts), Split("train", lazy.as_array(), [["a"]] * 12)).image_expert
    assert request == [5, 5, 2]
    assert found is not None
    assert found.shape == (12, 64)


@pytest.mark.parametrize("moving", [False, True])
def test_an_expert_of_decoded_images_is_that_of_lazy_ones(files: list[Path], moving: bool) -> None:
    clips = LazyClips(image_files(files, 8), 2)
    stills = image_files(files, 8)
    lazy = clips if moving else stills
    experts = Experts(image=Expert(embedding="pixel-svd", options={"dimensions": 4}))
    rows = []
    for name, images in (("lazy", lazy.as_array()), ("eager", np.asarray(lazy))):
        one = Split("train", images, [["a"]] * len(images))
        rows.append(prepare(setup(f"{name} {moving}", experts=experts), one).image_expert)
    assert rows[0] is not None
    assert rows[0].shape == (6 if moving else 12, 4)
    assert np.array_equal(rows[0], rows[1])  # type: ignore[arg-type]
