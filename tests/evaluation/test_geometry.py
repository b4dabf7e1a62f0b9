import itertools
import math
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchsuite.errors import UsageError
from benchsuite.evaluation import geometry

DATA = Path(__file__).parents[2].parent / "shared" / "data"
SEEDS = st.integers(0, 10**6)


def unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def embeddings(seed: int, n: int = 9, width: int = 4) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, width)), rng.normal(size=(n, width)) + 0.5


def by_hand(pairs: list[tuple[NDArray[np.float64], NDArray[np.float64]]]) -> float:
    return math.log(math.fsum(math.exp(-2 * float(((x - y) ** 2).sum())) for x, y in pairs) / len(pairs))


def wasserstein(rows: NDArray[np.float64]) -> float:
    """To N(0, I/m), by the formula for any two Gaussians."""
    mean, spread, target = rows.mean(0), np.cov(rows.T, bias=True), np.eye(rows.shape[1]) / rows.shape[1]
    root = scipy.linalg.sqrtm(target)
    between = scipy.linalg.sqrtm(root @ spread @ root).real
    return float(np.sqrt(mean @ mean + np.trace(spread + target - 2 * between)))


@pytest.mark.parametrize(
    ("name", "golden"),
    [
        ("clip", (0.851352, 1.380163, -1.794535, -1.840912)),
        ("clip_random", (1.136057, 1.942938, -0.909908, -1.308008)),
    ],
)
def test_golden_features_lie_as_known(name: str, golden: tuple[float, ...]) -> None:
    file = DATA / "features" / f"{name}.npy"
    if not file.is_file():
        pytest.skip(f"{file} is not here: the shared data is not part of the repository")
    found = geometry.score(*np.load(file).astype(np.float64))
    assert [round(found[k], 6) for k in ("gap", "alignment", "uniformity_image", "uniformity_text")] == list(golden)


@given(SEEDS)
def test_all_agree_with_the_formulas_by_hand(seed: int) -> None:
    raw = embeddings(seed)
    image, text = map(unit, raw)
    found = geometry.score(*raw)
    assert found["gap"] == pytest.approx(math.dist(image.mean(0), text.mean(0)))
    assert found["alignment"] == pytest.approx(
        np.mean([math.dist(a, b) ** 2 for a, b in zip(image, text, strict=True)])
    )
    cosines = image @ text.T
    assert found["positive_mean"] == pytest.approx(np.diag(cosines).mean())
    assert found["negative_mean"] == pytest.approx(cosines[~np.eye(9, dtype=bool)].mean())
    for side, rows in (("image", image), ("text", text)):
        assert found[f"uniformity_{side}"] == pytest.approx(by_hand(list(itertools.combinations(rows, 2))))
        assert found[f"uniformity_w2_{side}"] == pytest.approx(-wasserstein(rows), abs=1e-6)
    assert found["uniformity_w2"] == pytest.approx(-wasserstein(np.concatenate([image, text])), abs=1e-6)


@given(SEEDS)
def test_classes_agree_with_the_formulas_by_hand(seed: int) -> None:
    rows = unit(embeddings(seed)[0])
    labels = [0, 0, 1, 2, 1, 0, 2, 2, 3]
    pairs = list(itertools.combinations(range(9), 2))
    same = [float(rows[i] @ rows[j]) for i, j in pairs if labels[i] == labels[j]]
    other = [(rows[i], rows[j]) for i, j in pairs if labels[i] != labels[j]]
    centroids = [rows[np.array(labels) == kind].mean(0) for kind in range(4)]
    found = geometry.class_structure(3 * rows, labels)
    assert found == {
        "tolerance": pytest.approx(np.mean(same)),
        "inter_class_uniformity": pytest.approx(by_hand(other)),
        "centroid_uniformity": pytest.approx(by_hand(list(itertools.combinations(centroids, 2)))),
    }


@given(SEEDS, st.integers(2, 40), st.integers(1, 12))
def test_tiles_of_any_side_count_each_pair_once(seed: int, n: int, side: int) -> None:
    image, _ = embeddings(seed, n)
    rows, labels = unit(image), np.arange(n) % max(2, n - 1)
    pairs = list(itertools.combinations(range(n), 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(geometry, "SIDE", side)
        assert geometry.uniformity(image) == pytest.approx(by_hand([(rows[i], rows[j]) for i, j in pairs]), abs=1e-12)
        if n > 2:
            apart = [(rows[i], rows[j]) for i, j in pairs if labels[i] != labels[j]]
            found = geometry.class_structure(image, labels)
            assert found["inter_class_uniformity"] == pytest.approx(by_hand(apart), abs=1e-12)
            assert found["tolerance"] == pytest.approx(rows[0] @ rows[n - 1], abs=1e-12)


def test_extremes() -> None:
    collapsed = geometry.score(np.ones((5, 3)), np.ones((5, 3)))
    worst = -math.sqrt(2)
    assert [*collapsed.values()] == pytest.approx([0, 0, 0, 0, worst, worst, worst, 1, 1], abs=1e-7)
    assert geometry.score(np.ones((5, 3)), -np.ones((5, 3)))["gap"] == pytest.approx(2)
    even = np.concatenate([np.eye(6), -np.eye(6)])
    assert geometry.uniformity_w2(even) == pytest.approx(0, abs=1e-7)
    assert geometry.uniformity(even) < geometry.uniformity(even[:6])


EYE = np.eye(3)


@pytest.mark.parametrize(
    ("image", "text", "says"),
    [
        (EYE, np.eye(4), r"one shape \[N, D\]; given image \[3, 3\], text \[4, 4\]"),
        (EYE[0], EYE, r"image must be \[N, D\]"),
        (EYE[:0], EYE[:0], "N at least 1"),
        (EYE, EYE * np.array([[1], [np.nan], [1]]), "text: row 1 is not finite"),
        (EYE, EYE * np.array([[1], [1], [0]]), "text: row 2 is zero"),
        (EYE[:1], EYE[:1], "only one row"),
    ],
)
def test_what_has_no_geometry_is_refused(image: NDArray[np.float64], text: NDArray[np.float64], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        geometry.score(image, text)


@pytest.mark.parametrize(
    ("labels", "says"),
    [([0, 1], "3 rows need as many classes"), ([0, 1, 2], "pair of one class"), ([4, 4, 4], "pair of two classes")],
)
def test_classes_without_pairs_are_refused(labels: list[int], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        geometry.class_structure(EYE, labels)
