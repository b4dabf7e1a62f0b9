import importlib
import importlib.util
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
from support.real_files import png, write_pictures, write_shard, write_webdataset

from benchsuite.data import create_dataset
from benchsuite.data.base import Split
from benchsuite.data.prompts import SMALL
from benchsuite.data.real import clip_benchmark as ours
from benchsuite.errors import UsageError
from benchsuite.planning.data_folders import read_as

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
    assert list(ours.templates_of("cifar10")) == SMALL["cifar-18"]
    assert list(ours.templates_of("mnist")) == SMALL["number"]
    assert set(SMALL["imagenet-7"]) < set(ours.templates_of("imagenet1k"))
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


CLASSES = [[0, 1, 1], [1, 0]]
TEMPLATES = "zeroshot_classification_templates.txt"


@needs_it
def test_a_webdataset_is_read_as_the_library_reads_it(tmp_path: Path) -> None:
    place = write_webdataset(tmp_path / "wds_vtab-tiny", CLASSES)
    theirs = ours._builder().build_dataset("wds/vtab/tiny", root=str(place), transform=np.asarray, split="test")
    data = create_dataset("clip-benchmark", dataset="wds/vtab/tiny", folder=str(tmp_path), size=8)
    split, (images, labels) = data.split("test"), zip(*theirs, strict=True)
    assert [*data.class_names["class"]] == theirs.classes
    assert [text.replace("{}", "{c}") for text in data.templates["clip-benchmark"]] == theirs.templates
    assert split.labels["class"].tolist() == [*labels] == [0, 1, 1, 1, 0]
    assert np.array_equal(split.images[:], np.stack(images))
    assert data.manifest().splits == {"test": 5}


def test_a_webdataset_needs_no_library_and_may_be_the_folder_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ours, "_folder", lambda: pytest.fail("the library was asked for"))
    inside, itself = tmp_path, write_webdataset(tmp_path / "wds_tiny", CLASSES)
    one, two = (create_dataset("clip-benchmark", dataset="wds/tiny", folder=str(place)) for place in (inside, itself))
    assert one.manifest() == two.manifest()
    assert one.split("test").captions[1] == ["blue"]
    assert {"clip-benchmark", "imagenet-7"} <= set(one.templates)


def test_a_webdataset_for_retrieval_has_captions(tmp_path: Path) -> None:
    write_webdataset(tmp_path / "wds_pairs", [["a dog\nsome dog"], ["two cats"]], kind="retrieval")
    data = create_dataset("clip-benchmark", dataset="wds/pairs", folder=str(tmp_path), size=4)
    assert [*data.split("test").captions] == [["a dog", "some dog"], ["two cats"]]
    assert not data.class_names
    assert not data.templates


@needs_it
def test_several_labels_are_read_as_the_library_reads_them(tmp_path: Path) -> None:
    told: list[list[object]] = [[[1, 0, 1], [0, 0, 0]], [[1.0, 1.0, 1.0], [False, True, False]]]
    place = write_webdataset(tmp_path / "wds_tiny", told, "red\nblue\ngreen", kind="multilabel")
    theirs = ours._builder().build_dataset("wds/tiny", root=str(place), transform=np.asarray, split="test")
    data = create_dataset("clip-benchmark", dataset="wds/tiny", folder=str(tmp_path), size=8)
    split = data.split("test")
    labels = np.stack([label for _, label in theirs])
    assert labels.tolist() == [[1, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1, 0]]
    assert [sorted({*own} - {-1}) for own in split.labels["class"].tolist()] == [[*np.flatnonzero(x)] for x in labels]
    assert [*data.class_names["class"]] == theirs.classes
    assert not split.captions


def test_classes_of_several_labels_are_in_the_digest_and_pictures_may_be_squashed(tmp_path: Path) -> None:
    told: list[list[object]] = [[[1, 0], [0, 1]]]
    for name, classes in (("one", "red\nblue"), ("two", "blue\nred")):
        write_webdataset(tmp_path / name / "wds_tiny", told, classes, kind="multilabel")
    one, two = (create_dataset("clip-benchmark", dataset="wds/tiny", folder=str(tmp_path / n)) for n in ("one", "two"))
    assert one.manifest().digest != two.manifest().digest
    squashed = create_dataset("clip-benchmark", dataset="wds/tiny", folder=str(tmp_path / "one"), fit="squash")
    assert squashed._listed.fit == "squash"
    assert read_as("clip-benchmark", 224, "squash") == {"size": 224, "fit": "squash"}


@pytest.mark.parametrize(
    "change",
    [{"texts": [[0, 1, 1], [0, 1]]}, {"names": "red\ngreen"}, {"templates": "a {c}."}, {"side": 16}],
    ids=["a label", "a class name", "a template", "the images"],
)
def test_the_digest_of_a_webdataset_follows_what_it_says(tmp_path: Path, change: dict[str, object]) -> None:
    def digest(name: str, **given: object) -> str:
        write_webdataset(tmp_path / name / "wds_tiny", **({"texts": CLASSES} | given))  # type: ignore[arg-type]
        return create_dataset("clip-benchmark", dataset="wds/tiny", folder=str(tmp_path / name)).manifest().digest

    assert digest("one") == digest("two") != digest("three", **change)


def npy(values: list[object]) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.array(values), allow_pickle=True)
    return stream.getvalue()


def huge() -> bytes:
    """A header that promises more numbers than any machine holds."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": (10**15,)})
    return stream.getvalue()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"templates": "a {c}.\na photo"}, rf'{TEMPLATES}: "a photo" must have {{c}}'),
        ({"templates": "a {c} of {}"}, r'"a {c} of {}" must have {c} for the class name, and no other'),
        ({"templates": "a {}."}, r'"a {}." must have {c}'),
        ({"names": "red\nblue\ngreen"}, r'has 3 classes, the images 2: none is "green"'),
        ({"names": ""}, r's0000000: class "0" is none of the 0 of classnames.txt'),
        ({"names": "red"}, r's0000001: class "1" is none of the 1 of classnames.txt'),
        ({"texts": [["0", "one"]]}, r's0000001: class "one" is none of the 2'),
        ({"texts": [[0, ""]]}, r"s0000001: an image without a class; there must be s0000001.cls"),
        ({"kind": "masks"}, r'dataset_type.txt: type "masks" is not read, but classification, multilabel, retrieval'),
        ({"texts": [[[1, 1], [1]]], "kind": "multilabel"}, r"s0000001: its npy must have 0 or 1 for each of the 2"),
        ({"texts": [[[1, 2]]], "kind": "multilabel"}, r"s0000000: its npy must have 0 or 1"),
        ({"texts": [[[0, 1]]], "kind": "multilabel"}, r'2 classes, the images 1: none is "red"'),
        *(
            ({"texts": [[content]], "kind": "multilabel"}, r"0.tar: .*s0000000.npy is no array of whole numbers")
            for content in (b"no array", b"", b"PK\x03\x04", huge(), npy([0.5, 1]), npy(["1", "0"]), npy([{}, {}]))
        ),
        ({"texts": [], "kind": "retrieval"}, r"split test: there are no images"),
    ],
)
def test_a_webdataset_that_contradicts_itself_is_refused(
    tmp_path: Path, wrong: dict[str, object], message: str
) -> None:
    write_webdataset(tmp_path / "wds_tiny", **({"texts": CLASSES} | wrong))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=message):
        create_dataset("clip-benchmark", dataset="wds/tiny", folder=str(tmp_path)).manifest()


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda place: (place / "test" / "1.tar").unlink(), r"1\.tar: no such file"),
        (lambda place: (place / TEMPLATES).unlink(), rf"{TEMPLATES}: no such file. The folder must hold test/nshards"),
        (lambda place: (place / "test" / "nshards.txt").write_text("two"), r'nshards.txt: "two" is not the number'),
        (
            lambda place: place.rename(place.with_name("tiny")),
            r"wds_tiny is not a folder. Give one that holds wds/tiny",
        ),
    ],
    ids=["a tar file", "templates", "the number of tar files", "the name"],
)
def test_a_webdataset_of_which_files_lack_is_refused(
    tmp_path: Path, spoil: Callable[[Path], object], message: str
) -> None:
    spoil(write_webdataset(tmp_path / "wds_tiny", CLASSES))
    with pytest.raises(UsageError, match=message):
        create_dataset("clip-benchmark", dataset="wds/tiny", folder=str(tmp_path)).manifest()


def test_a_webdataset_under_the_librarys_name_is_refused_with_what_to_write(tmp_path: Path) -> None:
    write_webdataset(tmp_path / "wds_eurosat", [[0, 1]])
    with pytest.raises(UsageError, match='eurosat is there as a webdataset; write dataset = "wds/eurosat"'):
        create_dataset("clip-benchmark", dataset="eurosat", folder=str(tmp_path)).manifest()


def test_a_template_may_name_its_class_twice(tmp_path: Path) -> None:
    write_webdataset(tmp_path / "wds_tiny", CLASSES, templates="{c}, a kind of {c}")
    data = create_dataset("clip-benchmark", dataset="wds/tiny", folder=str(tmp_path))
    assert data.prompts_for("class", "clip-benchmark") == [["red, a kind of red"], ["blue, a kind of blue"]]


def test_captions_and_classes_of_one_tar_file_are_not_taken_for_each_other(tmp_path: Path) -> None:
    place = write_webdataset(tmp_path / "wds_tiny", CLASSES)
    both = {f"s{i}": {"png": png(np.zeros((4, 4, 3), np.uint8)), "cls": b"%d" % i, "txt": b"1"} for i in range(2)}
    write_shard(place / "test" / "0.tar", both)
    (place / "test" / "nshards.txt").write_text("1")

    def split() -> Split:
        return create_dataset("clip-benchmark", dataset="wds/tiny", folder=str(tmp_path)).split("test")

    assert split().labels["class"].tolist() == [0, 1]
    (place / "dataset_type.txt").write_text("retrieval")
    assert [*split().captions] == [["1"], ["1"]]


def write_sugar_crepe(root: Path, rows: object = None) -> Path:
    """One part of it as published, three images of greys 0, 10 and 20, in no order."""
    write_pictures(root / "sugar_crepe" / "val2017", ["c.jpg", "a.jpg", "b.jpg"])
    usual = {
        str(3 * i): {"filename": f"{name}.jpg", "caption": f"{name} right", "negative_caption": f"{name} wrong"}
        for i, name in enumerate("abc")
    }
    (root / "sugar_crepe" / "swap_att.json").write_text(json.dumps(usual if rows is None else rows))
    return root


def test_sugar_crepe_has_a_right_and_a_wrong_caption_of_each_image(tmp_path: Path) -> None:
    data = create_dataset("clip-benchmark", dataset="sugar_crepe/swap_att", folder=str(write_sugar_crepe(tmp_path)))
    split = data.split("test")
    assert [*split.captions] == [["a right", "a wrong"], ["b right", "b wrong"], ["c right", "c wrong"]]
    assert [round(float(image.mean()) / 10) for image in split.images[:]] == [1, 2, 0]
    assert not data.templates


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"7": {"filename": "a.jpg", "caption": "a"}}, r'swap_att.json, "7": there must be filename, caption, neg'),
        ({"7": {"filename": "a.jpg", "caption": "a", "negative_caption": " "}}, r'swap_att.json, "7": there must be'),
        (["a.jpg"], r'swap_att.json, "0": there must be'),
        ({}, r"split test: there are no images"),
        ({"7": {"filename": "d.jpg", "caption": "a", "negative_caption": "b"}}, r"d.jpg: no such file, but it is"),
    ],
)
def test_a_wrong_part_of_sugar_crepe_is_refused(tmp_path: Path, rows: object, message: str) -> None:
    root = write_sugar_crepe(tmp_path, rows)
    with pytest.raises(UsageError, match=message):
        create_dataset("clip-benchmark", dataset="sugar_crepe/swap_att", folder=str(root)).manifest()


def test_of_a_webdataset_on_the_hub_only_what_is_read_is_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub.utils import filter_repo_objects

    there, here = write_webdataset(tmp_path / "there", CLASSES), tmp_path / "here"
    for further in ("train/0.tar", "README.md"):
        (there / further).parent.mkdir(exist_ok=True)
        (there / further).touch()

    def download(name: str, repo_type: str, revision: str, allow_patterns: list[str]) -> str:
        assert (name, repo_type, revision) == ("clip-benchmark/wds_tiny", "dataset", "0123abc")
        names = [file.relative_to(there).as_posix() for file in there.rglob("*.*")]
        for each in filter_repo_objects(names, allow_patterns=allow_patterns):
            (here / each).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(there / each, here / each)
        return str(here)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    data = create_dataset("clip-benchmark", dataset="wds/tiny", folder="hub:clip-benchmark/wds_tiny@0123abc")
    assert data.split("test").labels["class"].tolist() == [0, 1, 1, 1, 0]
    assert not (here / "train").exists()


def test_a_dataset_of_a_collection_is_the_librarys_before_a_webdataset(tmp_path: Path) -> None:
    for folder in ("mnist", "wds_mnist", "wds_vtab-dtd", "cars", "wds_sugar_crepe-add_att"):
        (tmp_path / folder).mkdir()
    write_sugar_crepe(tmp_path)
    found = {"mnist": "mnist", "vtab/dtd": "wds/vtab/dtd", "cars": "", "gtsrb": ""}
    found |= {"sugar_crepe/swap_att": "sugar_crepe/swap_att", "sugar_crepe/swap_obj": ""}
    found |= {"sugar_crepe/add_att": "wds/sugar_crepe/add_att"}
    assert ours.found_under(str(tmp_path), [*found]) == found


def write_winoground(root: Path, rows: object = None, packed: str = "") -> Path:
    """Two instances as the hub has them: images of greys 0 to 30, in a folder or a zip file with this prefix."""
    names = [f"ex_{i}_img_{k}" for i in range(2) for k in range(2)]
    place = root / "winoground" / "data"
    write_pictures(place / "images", [f"{name}.png" for name in names])
    usual = [
        {"id": i, **{f"{kind}_{k}": f"{said}_{i}_{end}_{k}" for kind, said, end in KINDS for k in range(2)}}
        for i in range(2)
    ]
    lines = usual if rows is None else rows
    (place / "examples.jsonl").write_text("\n".join(map(json.dumps, lines)))  # type: ignore[call-overload]
    if packed:
        with ZipFile(place / "images.zip", "w", ZIP_DEFLATED) as archive:
            for name in names:
                archive.write(place / "images" / f"{name}.png", f"{packed}{name}.png")
        shutil.rmtree(place / "images")
    return root


KINDS = [("image", "ex", "img"), ("caption", "said of", "by")]


def test_winoground_is_the_same_from_its_zip_file_and_from_the_folder(tmp_path: Path) -> None:
    roots = [write_winoground(tmp_path / "a"), write_winoground(tmp_path / "b", packed="images/")]
    one, two = (create_dataset("clip-benchmark", dataset="winoground", folder=str(root), size=6) for root in roots)
    for data in (one, two):
        split = data.split("test")
        assert [*split.captions] == [[f"said of_{i}_by_{k}"] for i in range(2) for k in range(2)]
        assert [round(float(image.mean()) / 10) for image in split.images[:]] == [0, 1, 2, 3]
    assert one.manifest() == two.manifest()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"image_0": "ex_0_img_0", "image_1": "ex_0_img_1", "caption_0": "a"}, "line 1: there must be image_0, cap"),
        ({"image_0": "ex_0_img_0", "image_1": "b", "caption_0": "a", "caption_1": "b"}, r"b\.png"),
    ],
)
@pytest.mark.parametrize("packed", ["", "images/"])
def test_a_wrong_winoground_is_refused(tmp_path: Path, row: object, message: str, packed: str) -> None:
    root = write_winoground(tmp_path, [row], packed)
    with pytest.raises(UsageError, match=message):
        create_dataset("clip-benchmark", dataset="winoground", folder=str(root)).manifest()


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda place: (place / "images.zip").unlink(), r"images.zip: no such file. The folder must hold data/ex"),
        (lambda place: (place / "examples.jsonl").unlink(), r"examples.jsonl: no such file. The folder must hold"),
        (lambda place: (place / "images.zip").write_bytes(b"PK"), "images.zip: not a complete zip file"),
    ],
    ids=["images", "examples", "a cut file"],
)
def test_winoground_of_which_files_lack_is_refused(
    tmp_path: Path, spoil: Callable[[Path], object], message: str
) -> None:
    root = write_winoground(tmp_path, packed="images/")
    spoil(root / "winoground" / "data")
    with pytest.raises(UsageError, match=message):
        create_dataset("clip-benchmark", dataset="winoground", folder=str(root)).manifest()


def write_multilingual(
    root: Path, start: str = "xtd10", images: str = "", language: str = "de", **change: object
) -> Path:
    """Three images of greys 0, 10 and 20 and a file that names them as `images` says, in another order."""
    names = ["b.jpg", "c.jpg", "a.jpg"]
    write_pictures(root / "xtd10" / "images", sorted(names))
    paths = [f"{images or root}/xtd10/images/{name}" for name in names]
    content = {"image_paths": paths, "annotations": [f"{language} {name}" for name in names], "indices": [0, 1, 2]}
    (root / f"{start}-{language}.json").write_text(json.dumps(content | change), "utf-8")
    return root


@needs_it
@pytest.mark.parametrize("name", ours.SETS)
def test_files_of_multilingual_sets_are_named_as_the_library_names_them(tmp_path: Path, name: str) -> None:
    build = ours._builder().build_dataset
    modules = {"multilingual_mscoco_captions": "multilingual_mscoco", "flickr30k-200": "flickr30k_200"}
    module = importlib.import_module(f"clip_benchmark.datasets.{modules.get(name, name)}")
    language = module.SUPPORTED_LANGUAGES[-1]
    start = module.OUTPUT_FILENAME_TEMPLATE.format(language).removesuffix(f"-{language}.json")
    root = str(write_multilingual(tmp_path, start, language=language))
    given = {"language": language, "transform": np.asarray, "task": "zeroshot_retrieval"}
    theirs = build(name, root=root, **given)
    split = create_dataset("clip-benchmark", dataset=f"{name}/{language}", folder=root, size=6).split("test")
    assert [*split.captions] == [captions for _, captions in theirs]
    assert [round(float(image.mean())) for image in split.images[:]] == [round(image.mean()) for image, _ in theirs]


def test_paths_of_a_multilingual_set_may_begin_anywhere_and_are_in_no_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = {
        "": tmp_path / "absolute",
        "deep/root": tmp_path / "deep" / "root",
        ".": tmp_path / "own",
    }
    data = {}
    for images, root in roots.items():
        write_multilingual(root, images=images)
        data[images] = create_dataset("clip-benchmark", dataset="xtd10/de", folder=str(root))
    monkeypatch.chdir(tmp_path)
    data["relative"] = create_dataset("clip-benchmark", dataset="xtd10/de", folder="deep/root")
    assert len({each.manifest().digest for each in data.values()}) == 1
    for each in data.values():
        assert [round(float(image.mean()) / 10) for image in each.split("test").images[:]] == [1, 2, 0]


@pytest.mark.parametrize(
    ("dataset", "change", "message"),
    [
        ("xtd10/fr", {}, r'xtd10-LANGUAGE.json: language "fr" does not exist \(known: de, en\)'),
        ("xtd200/de", {}, r'xtd200-LANGUAGE.json: language "de" does not exist \(known: none\)'),
        ("xtd10/de", {"annotations": ["a", "b"]}, r"xtd10-de.json: there must be image_paths and annotations, lists"),
        ("xtd10/de", {"annotations": ["a", "b", " "]}, r"xtd10-de.json: there must be"),
        ("xtd10/de", {"image_paths": "abc"}, r"xtd10-de.json: there must be"),
        ("xtd10/de", {"image_paths": ["a.jpg"] * 3}, r"a.jpg: no such file, but it is listed"),
        ("xtd10/de", {"image_paths": [], "annotations": []}, r"xtd10-de.json: there must be"),
        ("xtd10", {}, "dataset = 'xtd10' is not possible"),
        ("xtd10/../de", {}, "dataset = 'xtd10/../de' is not possible"),
    ],
)
def test_a_wrong_multilingual_set_is_refused(
    tmp_path: Path, dataset: str, change: dict[str, object], message: str
) -> None:
    write_multilingual(tmp_path, language="en")
    root = write_multilingual(tmp_path, **change)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=message):
        create_dataset("clip-benchmark", dataset=dataset, folder=str(root)).manifest()
