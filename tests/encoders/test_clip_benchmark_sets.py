"""clip-benchmark's sets and collections by our tasks, number by number against the library's own loops."""

import importlib.util
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support.commands import exit_code
from support.own_data import name, write_image_folder
from support.peers import opened_by_open_clip
from support.real_files import pictures, png, write_cifar, write_webdataset
from torch import Tensor
from torch.nn.functional import normalize

from benchsuite.data import create_dataset
from benchsuite.data.prompts import SMALL

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("clip_benchmark") is None, reason='the extra "zeroshot" is not installed'
)


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


def test_a_collection_of_captions_is_retrieved(
    folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_webdataset(tmp_path / "wds_flickr8k", [["a dog\nsome dog", "a cat", "an owl"]], kind="retrieval", side=48)
    asked = ("--task", "clip-benchmark:retrieval", "--data", f"clip-benchmark={tmp_path}", "--json")
    assert exit_code("evaluate", f"open_clip:{folders['open_clip']}", *asked) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["results"]["flickr8k"]["counts"] == {"i2t": 3, "t2i": 4}
    assert told["means"] == {"retrieval.r_mean": told["results"]["flickr8k"]["metrics"]["r_mean"]}


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
