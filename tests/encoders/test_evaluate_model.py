"""Other people's models through our protocols, against a direct computation with their own libraries."""

import importlib.util
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from support.commands import exit_code
from support.own_data import name, write_image_folder
from support.peers import open_clip_clip, timm_resnet, transformers_clip, transformers_siglip
from support.real_files import pictures, png, write_cifar, write_webdataset
from torch import Tensor
from torch.nn.functional import normalize

from benchsuite.data import create_dataset
from benchsuite.data.base import Split
from benchsuite.data.prompts import SMALL
from benchsuite.data.synthetic.scenes import Scenes
from benchsuite.evaluation import geometry, retrieval

SIZES = {"train": 96, "validation": 8, "test": 40, "gallery": 8}
DATA = ["--data", "scenes", *(part for k, v in SIZES.items() for part in ("--data", f"scenes.{k}={v}"))]
COLOURS = ["--set", "classes=colour"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("peers")
    return {
        "transformers": transformers_clip(place / "tclip"),
        "open_clip": open_clip_clip(place / "oclip"),
        "timm": timm_resnet(place / "resnet"),
    }


@pytest.fixture(scope="module")
def scenes() -> Any:
    return create_dataset("scenes", **SIZES)


@torch.inference_mode()
def by_transformers(folder: Path, images: NDArray[np.uint8], texts: Sequence[str]) -> tuple[Tensor, Tensor, Tensor]:
    """Images, texts, and images before the projection, as the library's own examples have it."""
    from transformers import AutoTokenizer, CLIPModel

    model, words = CLIPModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    about = json.loads((folder / "preprocessor_config.json").read_text())
    pixels = torch.tensor(images).permute(0, 3, 1, 2) / 255
    pixels = (pixels - torch.tensor(about["image_mean"]).view(3, 1, 1)) / torch.tensor(about["image_std"]).view(3, 1, 1)
    tokens = words(list(texts), padding=True, truncation=True, max_length=16, return_tensors="pt")
    tokens = {name: tokens[name] for name in ("input_ids", "attention_mask")}
    features = model.vision_model(pixel_values=pixels).pooler_output
    out = model(pixel_values=pixels, **tokens)
    return out.image_embeds, out.text_embeds, features


def opened_by_open_clip(folder: Path) -> tuple[Any, Any, Any]:
    """The model, the transform of its pictures, and its tokenizer."""
    import open_clip

    place = f"local-dir:{folder}"
    model, _, transform = open_clip.create_model_and_transforms(place)
    return model, transform, open_clip.get_tokenizer(place)


@torch.inference_mode()
def by_open_clip(folder: Path, images: NDArray[np.uint8], texts: Sequence[str]) -> tuple[Tensor, Tensor, Tensor]:
    from PIL import Image

    model, transform, words = opened_by_open_clip(folder)
    pixels = torch.stack([transform(Image.fromarray(image)) for image in images])
    tokens = words(list(texts))
    image, text = model.eval().encode_image(pixels), model.encode_text(tokens)
    projection, model.visual.proj = model.visual.proj, None
    features = model.visual(pixels)
    assert torch.allclose(features @ projection, image, atol=1e-5)
    return image, text, features


DIRECTLY = {"transformers": by_transformers, "open_clip": by_open_clip}


def evaluated(capsys: pytest.CaptureFixture[str], model: str, task: str, *options: str) -> Any:
    assert exit_code("evaluate", model, "--task", task, *DATA, *options, "--json") == 0
    out = capsys.readouterr().out
    return json.loads(out[out.index("{") :])


@pytest.mark.parametrize("library", ["transformers", "open_clip"])
def test_scores_are_those_of_the_library(
    library: str, folders: dict[str, Path], scenes: Scenes, capsys: pytest.CaptureFixture[str]
) -> None:
    model, split = f"{library}:{folders[library]}", scenes.split("test")
    captions = [text for texts in split.captions for text in texts]
    owners = np.repeat(np.arange(len(split)), [len(texts) for texts in split.captions])
    direct = DIRECTLY[library]
    image, text, _ = direct(folders[library], split.images, captions)
    told = evaluated(capsys, model, "retrieval")
    assert told["results"]["retrieval"]["metrics"] == pytest.approx(retrieval.score(image, text, owners), abs=1e-12)
    assert told["model"]["name"] == f"{library}:{folders[library].name}"
    assert told["model"]["sides"] == ["image", "text"]
    assert told["model"]["run"] is None
    first = np.flatnonzero(np.diff(owners, prepend=-1))
    geometries = geometry.score(image.numpy(), text[first].numpy())
    measures = evaluated(capsys, model, "geometry")["results"]["geometry"]["measures"]
    assert measures["gap"] == pytest.approx(geometries["gap"], abs=1e-4)
    plain = evaluated(capsys, model, "knn-plain", *COLOURS)["results"]["knn-plain"]["metrics"]
    assert plain["k1_top1"] == nearest(scenes, lambda rows: direct(folders[library], rows, ["a"])[2])


needs_clip_benchmark = pytest.mark.skipif(
    importlib.util.find_spec("clip_benchmark") is None, reason='the extra "zeroshot" is not installed'
)


@needs_clip_benchmark
def test_scores_are_those_of_clip_benchmark(
    folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pictures that must be resized, through the library's own loops. Its linear probe runs on GPUs alone."""
    from clip_benchmark.metrics import zeroshot_classification, zeroshot_retrieval
    from PIL import Image
    from sklearn.metrics import top_k_accuracy_score

    model, transform, words = opened_by_open_clip(folders["open_clip"])
    data = {"pairs": tmp_path / "photos", "cifar10": tmp_path / "cifar"}
    write_image_folder(data["pairs"], 120)
    write_cifar(data["cifar10"], [0], [*range(10)] * 12, side=48)

    def loader(pictures: Sequence[Any], answers: Any) -> Iterator[tuple[Tensor, Any]]:
        for i in range(0, len(pictures), 16):
            yield torch.stack([transform(each) for each in pictures[i : i + 16]]), answers[i : i + 16]

    def scored(task: str, dataset: str, *options: str) -> dict[str, float]:
        given = ("--task", task, "--data", f"{dataset}={data[dataset]}", *options)
        assert exit_code("evaluate", f"open_clip:{folders['open_clip']}", *given, "--json") == 0
        metrics: dict[str, float] = json.loads(capsys.readouterr().out)["results"][task]["metrics"]
        return metrics

    captions = [*create_dataset("pairs", folder=str(data["pairs"])).split("test").captions]
    photos = [Image.open(data["pairs"] / name(int(texts[0].rpartition(" ")[2]))) for texts in captions]
    theirs = zeroshot_retrieval.evaluate(
        model.eval(), loader(photos, captions), words, "cpu", amp=False, recall_k_list=[1, 5, 10]
    )
    ours = scored("retrieval", "pairs")
    for k in (1, 5, 10):
        assert ours[f"t2i_r{k}"] == pytest.approx(theirs[f"image_retrieval_recall@{k}"])
        assert ours[f"i2t_r{k}"] == pytest.approx(theirs[f"text_retrieval_recall@{k}"])
    cifar = create_dataset("cifar10", folder=str(data["cifar10"]), size=48)
    prompts = [text.replace("{}", "{c}") for text in SMALL["cifar-18"]]
    pictures = [Image.fromarray(each) for each in cifar.split("test").images[:]]
    labels = cifar.split("test").labels["class"]
    classifier = zeroshot_classification.zero_shot_classifier(
        model, words, cifar.class_names["class"], prompts, "cpu", amp=False
    )
    logits, _ = zeroshot_classification.run_classification(
        model, classifier, loader(pictures, torch.tensor(labels)), "cpu", amp=False
    )
    ours = scored("zero-shot", "cifar10", "--set", "classes=class", "--set", "templates=cifar-18")
    for k in (1, 3, 5):  # their own count of these fails under NumPy 2.4
        assert ours[f"top{k}"] == pytest.approx(top_k_accuracy_score(labels, logits, k=k))


@needs_clip_benchmark
def test_scores_of_webdatasets_are_those_of_clip_benchmark(
    folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from clip_benchmark.datasets.builder import build_dataset
    from clip_benchmark.metrics import zeroshot_classification, zeroshot_retrieval
    from sklearn.metrics import top_k_accuracy_score

    model, transform, words = opened_by_open_clip(folders["open_clip"])
    names = "\n".join(["red", "blue", "green", "yellow"])
    write_webdataset(tmp_path / "wds_vtab-four", [[*range(4)] * 5, [3, 2, 1, 0] * 3], names, side=48)
    told = [[f"thing {i}\na {i % 7}" for i in part] for part in (range(30), range(30, 50))]
    write_webdataset(tmp_path / "wds_told", told, kind="retrieval", side=48)

    def theirs(name: str, task: str) -> Any:
        root = str(tmp_path / f"wds_{name.replace('/', '-')}")
        return build_dataset(f"wds/{name}", root=root, transform=transform, split="test", task=task)

    def scored(task: str, name: str, *options: str) -> dict[str, float]:
        given = ("--data", f"clip-benchmark={tmp_path}", "--data", f"clip-benchmark.dataset=wds/{name}", *options)
        assert exit_code("evaluate", f"open_clip:{folders['open_clip']}", "--task", task, *given, "--json") == 0
        metrics: dict[str, float] = json.loads(capsys.readouterr().out)["results"][task]["metrics"]
        return metrics

    four = theirs("vtab/four", "zeroshot_classification")
    classifier = zeroshot_classification.zero_shot_classifier(
        model.eval(), words, four.classes, four.templates, "cpu", amp=False
    )
    loader = torch.utils.data.DataLoader(four.batched(8), batch_size=None)
    logits, target = zeroshot_classification.run_classification(model, classifier, loader, "cpu", amp=False)
    ours = scored("zero-shot", "vtab/four", "--set", "classes=class", "--set", "templates=clip-benchmark")
    for k in (1, 3):
        assert ours[f"top{k}"] == pytest.approx(top_k_accuracy_score(target, logits, k=k))
    loader = torch.utils.data.DataLoader(theirs("told", "zeroshot_retrieval").batched(10), batch_size=None)
    recalls = zeroshot_retrieval.evaluate(model, loader, words, "cpu", amp=False, recall_k_list=[1, 5, 10])
    ours = scored("retrieval", "told")
    for k in (1, 5, 10):
        assert ours[f"t2i_r{k}"] == pytest.approx(recalls[f"image_retrieval_recall@{k}"])
        assert ours[f"i2t_r{k}"] == pytest.approx(recalls[f"text_retrieval_recall@{k}"])


@needs_clip_benchmark
def test_precision_of_several_labels_is_that_of_clip_benchmark(
    folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from clip_benchmark.datasets.builder import build_dataset
    from clip_benchmark.metrics import zeroshot_classification

    model, transform, words = opened_by_open_clip(folders["open_clip"])
    shown = np.random.default_rng(3).integers(0, 2, (2, 15, 3)) * [1, 1, 0] + [[0, 0, i % 5 == 1] for i in range(15)]
    place = write_webdataset(
        tmp_path / "wds_voc2007_multilabel", shown.tolist(), "red\nblue\ngreen", kind="multilabel", side=48
    )
    theirs = build_dataset("wds/voc2007_multilabel", root=str(place), transform=transform, split="test")
    loader = torch.utils.data.DataLoader(theirs.batched(8), batch_size=None)
    expected = zeroshot_classification.evaluate(
        model.eval(), loader, words, theirs.classes, theirs.templates, "cpu", amp=False
    )
    asked = ("--task", "clip-benchmark:vtab+", "--data", f"clip-benchmark={tmp_path}", "--json")
    assert exit_code("evaluate", f"open_clip:{folders['open_clip']}", *asked) == 0
    told = json.loads(capsys.readouterr().out)
    result = told["results"]["voc2007_multilabel"]
    assert result["metrics"] == {"map": pytest.approx(expected["mean_average_precision"], abs=1e-6)}
    assert result["counts"] == {"pictures": 30}
    assert told["means"] == {"multilabel.map": result["metrics"]["map"]}
    alone = ("--data", f"clip-benchmark={tmp_path}", "--data", "clip-benchmark.dataset=wds/voc2007_multilabel")
    options = ("--set", "classes=class", "--set", "templates=clip-benchmark")
    assert exit_code("evaluate", f"open_clip:{folders['open_clip']}", "--task", "zero-shot", *alone, *options) == 2
    assert "the task multilabel takes several labels an image" in capsys.readouterr().err


def alone(model: str, root: Path, name: str, capsys: pytest.CaptureFixture[str]) -> float:
    """Top-1 of one webdataset by its own templates."""
    data = ("--data", f"clip-benchmark={root}", "--data", f"clip-benchmark.dataset=wds/{name}")
    options = ("--set", "classes=class", "--set", "templates=clip-benchmark", "--json")
    assert exit_code("evaluate", model, "--task", "zero-shot", *data, *options) == 0
    score: float = json.loads(capsys.readouterr().out)["results"]["zero-shot"]["metrics"]["top1"]
    return score


@needs_clip_benchmark
def test_a_collection_is_each_of_its_sets_and_their_mean_and_names_what_is_missing(
    folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, root = f"open_clip:{folders['open_clip']}", tmp_path / "root"
    write_webdataset(root / "wds_cars", [[0, 1, 1, 0, 1, 1, 0]], side=48)
    write_webdataset(root / "wds_vtab-cifar10", [[0, 1, 2] * 3], "cat\ndog\nowl", "a blurry {c}", side=48)
    write_webdataset(root / "wds_voc2007_multilabel", [[0]], kind="masks")
    write_webdataset(root / "wds_cifar10", [[0, 1]])  # in no collection under this name
    asked = ("evaluate", model, "--task", "clip-benchmark:vtab+", "--data", f"clip-benchmark={root}")
    assert exit_code(*asked, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    each = {name: alone(model, root, name, capsys) for name in ("cars", "vtab/cifar10")}
    assert {name: result["metrics"]["top1"] for name, result in told["results"].items()} == each
    assert told["means"] == {"zero-shot.top1": pytest.approx(np.mean([*each.values()]))}
    (note,) = told["notes"]
    assert "2 of the 36 datasets of vtab+" in note
    assert f"not in {root}: imagenet1k, imagenetv2, " in note
    assert "masks: voc2007_multilabel" in note
    assert "there, but of no dataset of it: wds_cifar10" in note
    assert "vtab/cifar100, " in note
    assert " cars," not in note
    assert exit_code(*asked) == 0
    out = capsys.readouterr().out
    assert f"mean of zero-shot.top1           {50 * sum(each.values()):6.2f} %" in out
    assert out.count("note:") == 1


def test_mixtures_on_a_collection_end_with_the_mean() -> None:
    from benchsuite.cli.evaluate import mixture_lines

    top1 = {name: SimpleNamespace(task="zero-shot", metrics={"top1": 0.25 * i}) for i, name in enumerate("ab", 1)}
    one: Any = SimpleNamespace(results=top1, means={"zero-shot.top1": 0.375})
    head, row = mixture_lines({0.5: one})
    assert head.endswith("a.top1  b.top1  mean of zero-shot.top1")
    assert row.split() == ["0.5", "25.00", "50.00", "37.50"]


@needs_clip_benchmark
def test_a_collection_of_captions_is_retrieved(
    folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_webdataset(tmp_path / "wds_flickr8k", [["a dog\nsome dog", "a cat", "an owl"]], kind="retrieval", side=48)
    asked = ("--task", "clip-benchmark:retrieval", "--data", f"clip-benchmark={tmp_path}", "--json")
    assert exit_code("evaluate", f"open_clip:{folders['open_clip']}", *asked) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["results"]["flickr8k"]["counts"] == {"i2t": 3, "t2i": 4}
    assert told["means"] == {"retrieval.r_mean": told["results"]["flickr8k"]["metrics"]["r_mean"]}


@needs_clip_benchmark
def test_scores_of_sugar_crepe_are_those_of_clip_benchmark(
    folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from clip_benchmark.datasets.builder import build_dataset, image_captions_collate_fn
    from clip_benchmark.metrics import image_caption_selection

    (model, transform, words), root = opened_by_open_clip(folders["open_clip"]), tmp_path / "sugar_crepe"
    (root / "val2017").mkdir(parents=True)
    rows = {}
    for i, picture in enumerate(pictures(40, side=48)):
        (root / "val2017" / f"{i}.png").write_bytes(png(picture))
        right, wrong = (f"a {i % 7} b", f"b {i % 5} a")[:: 1 if i % 3 else -1]
        rows[str(i)] = {"filename": f"{i}.png", "caption": right, "negative_caption": wrong}
    (root / "swap_obj.json").write_text(json.dumps(rows))
    data = build_dataset("sugar_crepe/swap_obj", root=str(root), transform=transform, task="image_caption_selection")
    loader = torch.utils.data.DataLoader(data, batch_size=8, collate_fn=image_captions_collate_fn)
    theirs = image_caption_selection.evaluate(model.eval(), loader, words, "cpu", amp=False)
    asked = ("--task", "clip-benchmark:sugar_crepe", "--data", f"clip-benchmark={tmp_path}", "--json")
    assert exit_code("evaluate", f"open_clip:{folders['open_clip']}", *asked) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["results"]["sugar_crepe/swap_obj"]["metrics"] == {"text": pytest.approx(theirs["text_acc"])}
    assert 0 < theirs["text_acc"] < 1
    assert "not in " in told["notes"][0]


@needs_clip_benchmark
def test_recalls_of_a_multilingual_set_are_those_of_clip_benchmark(
    folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from clip_benchmark.datasets.builder import build_dataset, image_captions_collate_fn
    from clip_benchmark.metrics import zeroshot_retrieval

    model, transform, words = opened_by_open_clip(folders["open_clip"])
    (tmp_path / "root" / "xtd10" / "images").mkdir(parents=True)
    paths = [f"root/xtd10/images/{i}.png" for i in range(60)]
    for path, picture in zip(paths, pictures(60, side=48), strict=True):
        (tmp_path / path).write_bytes(png(picture))
    told = {"image_paths": paths, "annotations": [f"ein Ding {i} {i % 7}" for i in range(60)]}
    (tmp_path / "root" / "xtd10-de.json").write_text(json.dumps(told))
    monkeypatch.chdir(tmp_path)
    data = build_dataset("xtd10", root="root", transform=transform, language="de", task="zeroshot_retrieval")
    loader: Any = torch.utils.data.DataLoader(data, batch_size=8, collate_fn=image_captions_collate_fn)
    theirs = zeroshot_retrieval.evaluate(model.eval(), loader, words, "cpu", amp=False, recall_k_list=[1, 5, 10])
    asked = ("--data", f"clip-benchmark={tmp_path / 'root'}", "--task", "clip-benchmark:xtd10/de", "--json")
    assert exit_code("evaluate", f"open_clip:{folders['open_clip']}", *asked) == 0
    ours = json.loads(capsys.readouterr().out)["results"]["xtd10/de"]["metrics"]
    for k in (1, 5, 10):
        assert ours[f"t2i_r{k}"] == pytest.approx(theirs[f"image_retrieval_recall@{k}"])
        assert ours[f"i2t_r{k}"] == pytest.approx(theirs[f"text_retrieval_recall@{k}"])
    assert 0 < ours["t2i_r5"] < ours["t2i_r10"] < 1
    spanish = told | {"annotations": [f"{i % 7} cosa {i}" for i in range(60)]}
    (tmp_path / "root" / "xtd10-es.json").write_text(json.dumps(spanish))
    asked = (*asked[:3], "clip-benchmark:xtd10", "--json")
    assert exit_code("evaluate", f"open_clip:{folders['open_clip']}", *asked) == 0
    whole = json.loads(capsys.readouterr().out)
    each = {name: result["metrics"] for name, result in whole["results"].items()}
    assert [*each] == ["xtd10/de", "xtd10/es"]
    assert each["xtd10/de"] == ours != each["xtd10/es"]
    assert whole["means"] == {"retrieval.r_mean": pytest.approx(np.mean([one["r_mean"] for one in each.values()]))}
    assert "2 of the 11 datasets of xtd10" in whole["notes"][0]
    assert "xtd10/it" in whole["notes"][0], "a language that is not there"


def winogrounds(images: Tensor, texts: Tensor) -> dict[str, float]:
    """The three scores of pairs [N, 2, D], each as its paper defines it."""
    right = {}
    for n, ((a, b), (c, d)) in enumerate(zip(images, texts, strict=True)):
        by_text, by_image = (a @ c > a @ d and b @ d > b @ c), (a @ c > b @ c and b @ d > a @ d)
        right[n] = [bool(by_text), bool(by_image), bool(by_text and by_image)]
    return dict(zip(("text", "image", "group"), np.mean([*right.values()], 0), strict=True))


@needs_clip_benchmark
@torch.inference_mode()
def test_scores_of_winoground_are_those_of_its_paper_and_of_clip_benchmark(
    folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from clip_benchmark.datasets.builder import image_captions_collate_fn
    from clip_benchmark.metrics import image_caption_selection
    from PIL import Image

    (model, transform, words), place = opened_by_open_clip(folders["open_clip"]), tmp_path / "winoground" / "data"
    (place / "images").mkdir(parents=True)
    said = [(f"a {i % 7} b {i % 5}", f"b {i % 5} a {i % 7}") for i in range(60)]
    shown, rows = pictures(120, side=48).reshape(60, 2, 48, 48, 3), []
    for i, (first, second) in enumerate(said):
        names = [f"ex_{i}_img_{k}" for k in range(2)]
        for name_, picture in zip(names, shown[i], strict=True):
            (place / "images" / f"{name_}.png").write_bytes(png(picture))
        rows.append({"id": i, "image_0": names[0], "image_1": names[1], "caption_0": first, "caption_1": second})
    (place / "examples.jsonl").write_text("\n".join(map(json.dumps, rows)))
    pixels = [torch.stack([transform(Image.fromarray(one)) for one in pair]) for pair in shown]
    loader: Any = torch.utils.data.DataLoader(
        [*zip(pixels, said, strict=True)],  # type: ignore[arg-type]
        batch_size=8,
        collate_fn=image_captions_collate_fn,
    )
    theirs = image_caption_selection.evaluate(model.eval(), loader, words, "cpu", amp=False)
    images = normalize(model.encode_image(torch.cat(pixels)), dim=-1).view(60, 2, -1)
    texts = normalize(model.encode_text(words([text for pair in said for text in pair])), dim=-1).view(60, 2, -1)
    asked = ("--task", "clip-benchmark:winoground", "--data", f"clip-benchmark={tmp_path}", "--json")
    assert exit_code("evaluate", f"open_clip:{folders['open_clip']}", *asked) == 0
    told = json.loads(capsys.readouterr().out)
    ours = told["results"]["winoground"]["metrics"]
    assert ours == pytest.approx(winogrounds(images, texts))
    assert ours == pytest.approx({"text": theirs["text_acc"], "image": theirs["image_acc"], "group": theirs["acc"]})
    assert 0 < ours["group"] < ours["text"] != ours["image"] < 1
    assert not told["means"], "of one dataset there is no mean"
    alone = ("--task", "matching", *asked[2:4], "--data", "clip-benchmark.dataset=winoground")
    assert exit_code("evaluate", f"open_clip:{folders['open_clip']}", *alone) == 2
    assert "(Winoground: images = 2, and 1 caption each)" in capsys.readouterr().err


@needs_clip_benchmark
@pytest.mark.parametrize(
    ("collection", "data", "message"),
    [
        ("vtab+", ["clip-benchmark={root}"], "0 of the 36 datasets of vtab+ are evaluated. Left out, not in "),
        ("vtab++", ["clip-benchmark={root}"], 'collection "vtab++" does not exist'),
        ("vtab+", [], "give the root of its datasets, --data clip-benchmark=FOLDER, alone"),
        ("vtab+", ["clip-benchmark={root}", "clip-benchmark.dataset=dtd"], "clip-benchmark=FOLDER, alone"),
        ("vtab+", ["cifar10={root}"], "clip-benchmark=FOLDER, alone"),
        ("retrieval", ["clip-benchmark={bad}"], "an image without a caption"),
    ],
)
def test_a_collection_that_cannot_be_evaluated_is_one_clear_message(
    collection: str,
    data: list[str],
    message: str,
    folders: dict[str, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    bad = write_webdataset(tmp_path / "bad" / "wds_flickr8k", [["a dog", ""]], kind="retrieval").parent
    (tmp_path / "empty").mkdir()
    given = [part for text in data for part in ("--data", text.format(root=tmp_path / "empty", bad=bad))]
    asked = ("evaluate", f"open_clip:{folders['open_clip']}", "--task", f"clip-benchmark:{collection}", *given)
    assert exit_code(*asked) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def nearest(scenes: Scenes, encode: Any) -> float:
    """One-nearest-neighbour accuracy by features before the projection."""
    train, test = (scenes.split(name) for name in ("train", "test"))
    bank, queries = (normalize(encode(part.images), dim=-1) for part in (train, test))
    near = torch.cdist(queries, bank).argmin(1)
    return float(np.mean(train.labels["colour"][near.numpy()] == test.labels["colour"]))


@torch.inference_mode()
def test_texts_of_siglip_are_padded_as_it_was_trained(tmp_path: Path) -> None:
    from transformers import AutoTokenizer, SiglipModel

    from benchsuite.models.judged import judged

    folder = transformers_siglip(tmp_path / "siglip")
    model = judged(f"transformers:{folder}")
    assert model.fit == "squash"
    texts = ["red", "a photo of big blue square"]
    tokens = AutoTokenizer.from_pretrained(folder)(texts, padding="max_length", max_length=16, return_tensors="pt")
    out = SiglipModel.from_pretrained(folder).eval().get_text_features(input_ids=tokens["input_ids"])
    rows = out if isinstance(out, Tensor) else out.pooler_output
    assert torch.allclose(model.sides.texts(texts), normalize(rows, dim=-1), atol=1e-6)


def test_one_tower_does_what_needs_one_tower(
    folders: dict[str, Path], scenes: Scenes, capsys: pytest.CaptureFixture[str]
) -> None:
    import timm

    model = f"timm:{folders['timm']}"
    told = evaluated(capsys, model, "knn-plain", *COLOURS)
    body = timm.create_model("test_resnet", num_classes=7, checkpoint_path=str(folders["timm"] / "model.safetensors"))
    body.reset_classifier(0)

    @torch.inference_mode()
    def encode(images: NDArray[np.uint8]) -> Tensor:
        pixels = torch.tensor(images).permute(0, 3, 1, 2) / 255
        mean, std = (torch.tensor(rows).view(3, 1, 1) for rows in ([0.4, 0.5, 0.6], [0.2, 0.3, 0.4]))
        out: Tensor = body.eval()((pixels - mean) / std)
        return out

    assert told["results"]["knn-plain"]["metrics"]["k1_top1"] == nearest(scenes, encode)
    assert exit_code("evaluate", model, "--task", "retrieval", *DATA) == 2
    assert "it embeds texts, but timm:resnet has an image side alone" in capsys.readouterr().err


def test_a_recipe_gives_data_and_protocols(
    folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What one tower cannot do is left out, and told; with --task, only protocols of that task are taken."""
    (tmp_path / "tiny.toml").write_text(RECIPE)
    assert exit_code("evaluate", f"timm:{folders['timm']}", "--recipe", tmp_path / "tiny.toml") == 0
    out = capsys.readouterr().out
    assert "note: retrieval (task retrieval) is left out: it embeds texts, but timm:resnet" in out
    assert "knn.k1_top1" in out
    model = f"transformers:{folders['transformers']}"
    options = ["--task", "retrieval", "--data", "scenes.test=30", "--json"]
    assert exit_code("evaluate", model, "--recipe", tmp_path / "tiny.toml", *options) == 0
    out = capsys.readouterr().out
    told = json.loads(out[out.index("{") :])
    assert set(told["protocols"]) == {"retrieval"}
    assert told["data"]["options"]["test"] == 30
    assert exit_code("evaluate", model, "--recipe", tmp_path / "tiny.toml", "--task", "geometry") == 2
    assert "no protocol of task geometry can be evaluated" in capsys.readouterr().err


def test_the_model_that_is_named_is_evaluated_and_not_the_recipes(
    folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The recipe's own need not even be there: its data are read as the named model takes them."""
    write_image_folder(tmp_path / "photos", 40)
    model, data = f"transformers:{folders['transformers']}", ("--data", f"pairs={tmp_path / 'photos'}", "--json")
    side = '{ model = "transformers:nowhere" }'
    towers = f'text = {side}\nbackbones.CLIP = {{ description = "CLIP", tower = {side} }}\n'
    rest = "optimizer = { lr = 1e-3 }\ntraining = { batch = 8, steps = 1 }\nprojection = { width = 8 }\n"
    about = 'title = "t"\ntrack = "pairs"\ndescription = "d"\nseeds = 1\ndata = { name = "pairs" }\n'
    (tmp_path / "own.toml").write_text(f'{about}{towers}{rest}protocols.retrieval = {{ task = "retrieval" }}\n')
    told = []
    for given in (("--recipe", tmp_path / "own.toml"), ("--task", "retrieval")):
        assert exit_code("evaluate", model, *given, *data) == 0
        out = capsys.readouterr().out
        told.append(json.loads(out[out.index("{") :]))
    assert told[0]["model"] == told[1]["model"]
    assert told[0]["data"] == told[1]["data"]
    assert told[0]["results"] == told[1]["results"]
    assert exit_code("evaluate", model, "--recipe", tmp_path / "own.toml", "--model", model, *data) == 2
    assert "is for --interpolate alone" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", "--task", "knn"], 'model "nowhere": no such folder. Give one that `benchsuite weights` wrote'),
        (["timm:test_resnt", "--task", "knn"], 'timm has no such model, and there is no such folder. Did you mean "t'),
        (["open_clip:ViT-B-3", "--task", "knn"], "open_clip has no such model, and there is no such folder. Did you"),
        (
            ["open_clip:ViT-B-32", "--task", "knn"],
            "say which weights: open_clip:ViT-B-32?pretrained=TAG (known: openai",
        ),
        (["open_clip:ViT-B-32?pretrained=laion", "--task", "knn"], 'no weights "laion" (known: openai'),
        (["{timm}", "--task", "knn"], "say on which data: --data NAME, or NAME=FOLDER"),
        (["{timm}"], "say what to evaluate: --task TASK --data NAME[=FOLDER], or --recipe NAME"),
        (["{timm}", "--task", "kn", "--data", "scenes"], 'task "kn" does not exist'),
        (["{timm}", "--task", "knn", "--data", "scene"], 'dataset "scene" does not exist'),
        (["{timm}", "--task", "knn", "--data", "scenes"], '"classes" must be given'),
        (["{timm}", "--task", "knn", "--data", "scenes", "--set", "classes=color"], 'set of classes "color" does not'),
        (["{timm}", "--task", "knn", "--data", "latents", "--set", "classes=group"], "shows vectors, but timm:resnet"),
        (["{timm}", "--recipe", "scenes-smoke", "--set", "k=3"], "--set is for the options of one task"),
        (["{timm}", "--task", "knn", "--data", "scenes", "--set", "k"], "write name=value"),
    ],
)
def test_what_cannot_be_evaluated_is_one_clear_message(
    arguments: list[str], message: str, folders: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    given = [text.format(timm=f"timm:{folders['timm']}") if text == "{timm}" else text for text in arguments]
    assert exit_code("evaluate", *given) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_open_clip_is_optional(
    folders: dict[str, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchsuite.models.clip_models import open_clip_model

    open_clip_model.cache_clear()
    monkeypatch.setitem(sys.modules, "open_clip", None)
    assert exit_code("evaluate", f"open_clip:{folders['open_clip']}", "--task", "retrieval", *DATA) == 2
    assert "pip install open-clip-torch" in capsys.readouterr().err


def test_data_are_read_as_the_model_takes_them_unless_the_user_says_otherwise(tmp_path: Path) -> None:
    from benchsuite.encoders.evaluate import Wanted, plan_evaluation

    folder = str(write_cifar(tmp_path / "cifar", [*range(10)], range(10)))
    model: Any = SimpleNamespace(size=24, fit="squash", exported=None, embeds={"image"}, takes="images")

    def read(**given: str) -> dict[str, Any]:
        folders = {"cifar10": folder, **{f"cifar10.{name}": value for name, value in given.items()}}
        wanted = Wanted("knn-plain", {"classes": "class"}, dataset="cifar10", folders=folders)
        return plan_evaluation(model, wanted).data.options

    assert (read()["size"], read()["fit"]) == (24, "squash")
    assert (read(size="16")["size"], read(size="16")["fit"]) == (16, "squash")


def test_pictures_of_another_size_are_resized(folders: dict[str, Path]) -> None:
    from benchsuite.models.judged import judged

    model = judged(f"transformers:{folders['transformers']}")
    small = np.random.default_rng(0).integers(0, 255, (3, 20, 20, 3), np.uint8)
    split = Split("test", small)
    assert model.sides.pictures(split.images).shape == (3, 24)


OTHER = ["--data", "scenes", "--data", "scenes.train=96", "--data", "scenes.test=41"]
RECIPE = f"""
title = "tiny"
track = "scenes"
description = "a few steps"
seeds = 1
data = {{ name = "scenes", options = {{ {", ".join(f"{k} = {v}" for k, v in SIZES.items())} }} }}
projection = {{ width = 12 }}
optimizer = {{ lr = 1e-3 }}
training = {{ batch = 32, steps = 2 }}
backbones.RN50 = {{ description = "tiny", tower = {{ timm = "test_resnet" }} }}
[text]
transformer = "distilbert"
vocabulary = 200
config = {{ dim = 16, hidden_dim = 32, n_layers = 1, n_heads = 2 }}
[protocols]
retrieval = {{ task = "retrieval" }}
knn = {{ task = "knn-plain", options = {{ classes = "colour" }} }}
"""
