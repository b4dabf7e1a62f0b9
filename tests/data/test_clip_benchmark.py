import importlib.util
from pathlib import Path

import numpy as np
import pytest
from support.real_files import png

from benchsuite.data import create_dataset
from benchsuite.data.prompts import CIFAR_18, IMAGENET_7, NUMBER
from benchsuite.data.real import clip_benchmark as ours
from benchsuite.errors import UsageError

FOLDERS = ["AnnualCrop", "Forest", "HerbaceousVegetation", "Highway", "Industrial", "Pasture"]
FOLDERS += ["PermanentCrop", "Residential", "River", "SeaLake"]
needs_it = pytest.mark.skipif(
    importlib.util.find_spec("clip_benchmark") is None, reason='the extra "zeroshot" is not installed'
)


def write_eurosat(root: Path, each: int = 2, classes: int = 10) -> Path:
    """EuroSAT as torchvision lays it out, under clip-benchmark's name."""
    for c, name in enumerate(FOLDERS):
        place = root / "eurosat" / "eurosat" / "2750" / name
        place.mkdir(parents=True)
        for i in range(each if c < classes else 0):
            (place / f"{name}_{i}.jpg").write_bytes(png(np.full((8, 12, 3), 20 * c, np.uint8), "JPEG"))
    return root


@needs_it
def test_names_templates_images_and_labels_are_the_librarys(tmp_path: Path) -> None:
    data = create_dataset("clip-benchmark", dataset="eurosat", folder=str(write_eurosat(tmp_path)), size=6)
    split = data.split("test")
    assert data.manifest().splits == {"test": 20}
    assert data.class_names["class"][0] == "annual crop land"
    assert data.templates["clip-benchmark"][0] == "a centered satellite photo of {}."
    assert split.labels["class"].tolist() == sorted([*range(10)] * 2)
    assert split.images[4:6].shape == (2, 6, 6, 3)
    assert abs(int(split.images[5].mean()) - 40) <= 2
    assert split.captions[0] == ["annual crop land"]


@needs_it
def test_the_small_sets_are_word_for_word_the_librarys() -> None:
    assert ours.templates_of("cifar10") == CIFAR_18
    assert ours.templates_of("mnist") == NUMBER
    assert set(IMAGENET_7) < set(ours.templates_of("imagenet1k"))
    assert len(ours.templates_of("imagenet1k")) == 80


@needs_it
def test_all_seventeen_are_known_to_the_library() -> None:
    names = ours.Name.__args__  # type: ignore[attr-defined]
    assert len(names) == 17
    source = Path(ours._builder().__file__).read_text()
    assert all(f'"{name}"' in source for name in names)


@needs_it
@pytest.mark.parametrize("name", ours.Name.__args__)  # type: ignore[attr-defined]
def test_each_has_templates_where_the_library_has_none_those_of_imagenet(name: str) -> None:
    templates = create_dataset("clip-benchmark", dataset=name).templates
    assert all("{}" in template for template in templates["clip-benchmark"])
    if name.startswith("imagenet"):
        assert templates["clip-benchmark"] == templates["imagenet-80"]


@needs_it
def test_the_digest_follows_the_files_not_the_place(tmp_path: Path) -> None:
    def digest(root: Path) -> str:
        return create_dataset("clip-benchmark", dataset="eurosat", folder=str(root)).manifest().digest

    one, two = write_eurosat(tmp_path / "a"), write_eurosat(tmp_path / "b")
    assert digest(one) == digest(two)
    file = next(two.rglob("River_0.jpg"))
    file.write_bytes(png(np.zeros((8, 8, 3), np.uint8), "JPEG"))
    assert digest(one) != digest(two)


@needs_it
def test_wrong_places_and_empty_classes_are_refused(tmp_path: Path) -> None:
    def split(root: Path, name: str = "eurosat") -> object:
        return create_dataset("clip-benchmark", dataset=name, folder=str(root)).split("test")

    with pytest.raises(UsageError, match=r"eurosat is not a folder. Give one that holds eurosat"):
        split(tmp_path)
    (tmp_path / "dtd").mkdir()
    with pytest.raises(UsageError, match="dtd: not dtd as clip-benchmark reads it"):
        split(tmp_path, "dtd")
    with pytest.raises(UsageError, match=r"not eurosat as clip-benchmark reads it .*SeaLake|class 9"):
        split(write_eurosat(tmp_path / "short", classes=9))


def test_another_dataset_is_refused() -> None:
    with pytest.raises(UsageError, match="clip-benchmark: dataset = 'eurosta' is not possible"):
        create_dataset("clip-benchmark", dataset="eurosta")


def test_without_the_library_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mnist").mkdir()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r'clip-benchmark is not installed; install "benchsuite\[zeroshot\]"'):
        create_dataset("clip-benchmark", dataset="mnist", folder=str(tmp_path)).manifest()


@needs_it
def test_a_class_without_test_images_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ours, "_targets", lambda library: iter([0] * len(library)))
    with pytest.raises(UsageError, match=r"class 1 of the 10 of eurosat .* has no test image"):
        create_dataset("clip-benchmark", dataset="eurosat", folder=str(write_eurosat(tmp_path))).split("test")
