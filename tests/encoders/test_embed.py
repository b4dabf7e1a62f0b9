"""Embedding a dataset and reading it again; encoders are a few lines, except where weights are the point."""

import json
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch

from benchsuite.data import create_dataset
from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.data.readers.embedded import Encoder, files_of, read_manifest
from benchsuite.encoders import embed as module
from benchsuite.encoders.embed import Wanted, embed
from benchsuite.errors import RunError, UsageError
from benchsuite.models.asked import asked
from benchsuite.models.frozen import FrozenImages, FrozenTexts
from benchsuite.registry import register_dataset
from benchsuite.setup import Data
from benchsuite.torchvision_ops import make_importable

COUNT = 11
KINDS = ("cat", "dog", "owl")


@pytest.fixture
def toys(forgetful_registries: None) -> None:
    @register_dataset("toys", title="Toys", license="CC0", download=False)
    class Toys(PairDataset):
        """Grey images, one to three captions each, a paraphrase, classes."""

        class_names: ClassVar = {"kind": KINDS}
        templates: ClassVar = {"short": ("{}", "a {}"), "long": ("it is a {}",)}

        def manifest(self) -> Manifest:
            return Manifest("toys", 1, {"train": COUNT, "test": 4}, "d")

        def read(self, split: str) -> Split:
            n = self.manifest().splits[split]
            images = np.broadcast_to(np.arange(n, dtype=np.uint8)[:, None, None, None], (n, 4, 4, 3))
            captions = [[f"{split} {i}" + "!" * k for k in range(1 + i % 3)] for i in range(n)]
            return Split(split, images, captions, [[f"so {i}"] for i in range(n)], {"kind": np.arange(n) % 3})


class Images:
    """The grey, and ones."""

    size = 4
    fit = "crop"
    calls = 0

    def __init__(self, asked: Any) -> None:
        self.about = Encoder(name=asked.shown, library="timm 1", weights="w", trained=asked.trained)

    def __call__(self, images: np.ndarray) -> np.ndarray:
        Images.calls += 1
        return np.stack([images[:, 0, 0, 0].astype(np.float32), np.ones(len(images), np.float32)], 1)


class Texts:
    """The length of a text, and the sum of its letters."""

    def __init__(self, asked: Any, data: Any, train: Any) -> None:
        self.about = Encoder(name=asked.shown, library="transformers 5", weights="v", trained=asked.trained)

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([vector(text) for text in texts], np.float32)


def vector(text: str) -> list[float]:
    return [len(text), sum(map(ord, text)), text.count("!")]


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch, toys: None) -> Callable[..., Wanted]:
    """Encoders that cost nothing, and what asks for them."""
    monkeypatch.setattr(module, "FrozenImages", Images)
    monkeypatch.setattr(module, "FrozenTexts", Texts)
    Images.calls = 0

    def wanted(out: Path, **changes: Any) -> Wanted:
        given = {"dataset": "toys", "folders": {}, "image": "timm:some", "text": "some", "batch": 2, "shard": 3}
        return Wanted(out=out, **{**given, **changes})

    return wanted


def features(out: Path, **options: Any) -> PairDataset:
    return create_dataset("features", folder=str(out), normalize=False, validation_share=0, **options)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_everything_of_a_dataset_is_embedded_and_read_again(tmp_path: Path, cheap: Callable[..., Wanted]) -> None:
    shown: list[tuple[str, int, int]] = []
    embed(cheap(tmp_path / "v"), lambda *told: shown.append(told))
    assert shown[:4] == [("train", 3, COUNT), ("train", 6, COUNT), ("train", 9, COUNT), ("train", COUNT, COUNT)]
    dataset, source = features(tmp_path / "v"), create_dataset("toys")
    for name in ("train", "test"):
        split, told = dataset.split(name), source.split(name)
        assert split.images[:, 0].tolist() == [[i, 1] for i in range(len(told))]
        for kind in ("captions", "paraphrases"):
            vectors = [texts.tolist() for texts in getattr(split, kind)]
            assert vectors == [[vector(text) for text in texts] for texts in getattr(told, kind)]
        assert split.labels["class"].tolist() == split.labels["kind"].tolist() == told.labels["kind"].tolist()
    assert dataset.classes_of("class") == list(KINDS)
    for asked_for, meant in (("prompts", "short"), ("long", "long")):
        prompts = [[vector(text) for text in texts] for texts in source.prompts_for("kind", meant)]
        assert np.asarray(dataset.prompts_for("class", asked_for)).tolist() == prompts
    assert str(tmp_path) not in (tmp_path / "v" / "manifest.json").read_text()
    checked = {file.file for file in files_of(read_manifest(tmp_path / "v"))}
    assert checked == {name for name in files(tmp_path / "v") if name.endswith(".npy")}
    assert features(tmp_path / "v", label="none").class_names == {}
    assert np.load(tmp_path / "v" / "train" / "image-00000.npy").dtype == np.float16


def test_a_killed_command_goes_on_and_ends_with_the_same_bytes(tmp_path: Path, cheap: Callable[..., Wanted]) -> None:
    embed(cheap(tmp_path / "whole"))
    all_calls, killed = Images.calls, tmp_path / "killed"
    if (child := os.fork()) == 0:
        embed(cheap(killed), lambda split, done, total: os.kill(os.getpid(), signal.SIGKILL) if done == 9 else None)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    (killed / "train" / ".image-00003.npy-0a").write_bytes(b"half")
    assert not (killed / "manifest.json").exists()
    with pytest.raises(UsageError, match="has not finished there: run it again"):
        features(killed).manifest()
    Images.calls = 0
    embed(cheap(killed))
    assert 0 < Images.calls <= all_calls - 6
    assert files(killed) == files(tmp_path / "whole")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"text": "other"}, "text.name: transformers:some there, transformers:other now"),
        ({"dtype": "float32"}, "dtype: float16 there, float32 now"),
        ({"untrained": True}, "image.trained: True there, False now"),
        ({"limit": 3}, "limit: None there, 3 now"),
        ({"splits": ["dev"]}, 'toys: split "dev" does not exist (known: test, train)'),
        ({"image": "some"}, '--image "some": write timm:NAME, timm:FOLDER or transformers:NAME'),
        ({"dataset": "images"}, "dataset images has no captions. Embed one of images with captions: "),
        ({"dataset": "clips"}, "dataset clips has clips, not images. Embed one of images"),
        ({"dataset": "latents"}, "dataset latents has vectors, not images. Embed one of images"),
    ],
)
def test_what_does_not_belong_to_a_folder_is_refused(
    tmp_path: Path, cheap: Callable[..., Wanted], changes: dict[str, Any], message: str
) -> None:
    embed(cheap(tmp_path, splits=["test"]))
    before = files(tmp_path)
    with pytest.raises(UsageError) as refused:
        embed(cheap(tmp_path, **changes))
    assert message in str(refused.value)
    assert files(tmp_path) == before


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path, cheap: Callable[..., Wanted]) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UsageError, match=r"the folder holds thesis.tex. Give an empty or a new one"):
        embed(cheap(tmp_path))


def test_splits_can_be_added_and_what_is_missing_is_cut(tmp_path: Path, cheap: Callable[..., Wanted]) -> None:
    embed(cheap(tmp_path, splits=["train"], limit=9))
    cut = features(tmp_path, test_share=0.5)
    sizes = dict(cut.manifest().splits)
    assert sizes["train"] + sizes["test"] == 9
    test = cut.split("test")
    greys = test.images[:, 0, 0].astype(int).tolist()
    assert [texts.tolist() for texts in test.captions] == [
        [vector(text) for text in create_dataset("toys").split("train").captions[i]] for i in greys
    ]
    assert test.labels["kind"].tolist() == [i % 3 for i in greys]
    embed(cheap(tmp_path, splits=["test"], limit=9))
    assert dict(features(tmp_path).manifest().splits) == {"train": 9, "test": 4}


def test_a_vector_that_is_not_finite_is_refused_with_its_number(
    tmp_path: Path, cheap: Callable[..., Wanted], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Images, "__call__", lambda self, images: 1e5 * (images[:, 0, 0, :1] >= 4).astype(np.float32))
    with pytest.raises(RunError, match="the vector of image 4 is not finite in float16"):
        embed(cheap(tmp_path / "a"))
    embed(cheap(tmp_path / "b", dtype="float32"))
    assert features(tmp_path / "b").split("test").images[:].max() == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("content", r"train/image-00001.npy: the content is not what manifest.json says. Delete the file"),
        ("missing", r"train/image-00001.npy is missing. Embed again: what is there is kept"),
        ("format", "not a manifest of format 1"),
        ("outside", r"\.\./image-00001.npy is outside of the folder"),
    ],
)
def test_a_folder_that_was_changed_is_refused(
    tmp_path: Path, cheap: Callable[..., Wanted], change: str, message: str
) -> None:
    out, file = tmp_path / "v", tmp_path / "v" / "train" / "image-00001.npy"
    embed(cheap(out))
    manifest = out / "manifest.json"
    match change:
        case "content":
            file.write_bytes(file.read_bytes()[:-2] + b"\1\1")
        case "missing":
            file.unlink()
        case "format":
            manifest.write_text(json.dumps({"format": 2}))
        case "outside":
            manifest.write_text(manifest.read_text().replace("train/image-00001", "../image-00001"))
    with pytest.raises(UsageError, match=message):
        features(out).manifest()
    if change in ("content", "missing"):
        file.unlink(missing_ok=True)
        embed(cheap(out))
        assert features(out).split("train").images[3, 0].tolist() == [3, 1]


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


def pictures() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)


def timm_folder(folder: Path) -> torch.nn.Module:
    make_importable()
    import timm
    from safetensors.torch import save_file

    model: torch.nn.Module = timm.create_model("test_resnet", num_classes=7)
    folder.mkdir()
    cfg = {"mean": [0.4, 0.4, 0.4], "std": [0.2, 0.2, 0.2], "input_size": [3, 32, 32]}
    (folder / "config.json").write_text(
        json.dumps({"architecture": "test_resnet", "num_classes": 7, "pretrained_cfg": cfg})
    )
    save_file(model.state_dict(), folder / "model.safetensors")
    return model


def test_a_local_timm_folder_gives_its_own_features(tmp_path: Path) -> None:
    model = timm_folder(tmp_path / "mine").eval()
    encode = FrozenImages(asked(f"timm:{tmp_path / 'mine'}", "timm", False))
    pixels = torch.tensor(pictures()).permute(0, 3, 1, 2) / 255
    with torch.inference_mode():
        expected = model.forward_head(model.forward_features((pixels - 0.4) / 0.2), pre_logits=True)
    assert encode.size == 32
    assert encode(pictures()) == pytest.approx(expected.numpy(), abs=1e-4)
    assert (encode.about.name, encode.about.trained) == ("timm:mine", True)


def test_a_state_dict_of_another_library_is_read_by_the_order_of_its_layers(tmp_path: Path) -> None:
    make_importable()
    import timm

    whole = timm.create_model("test_resnet").eval()
    tensors = [tensor for name, tensor in whole.state_dict().items() if "num_batches" not in name]
    named = {f"layer.{k}": tensor for k, tensor in enumerate(tensors)}
    torch.save(named, tmp_path / "other.pth")
    encode = FrozenImages(asked(f"timm:test_resnet?size=32&weights={tmp_path / 'other.pth'}", "timm", False))
    whole.reset_classifier(0)
    mean, std = (torch.tensor(whole.pretrained_cfg[key])[:, None, None] for key in ("mean", "std"))
    pixels = (torch.tensor(pictures()).permute(0, 3, 1, 2) / 255 - mean) / std
    with torch.inference_mode():
        assert encode(pictures()) == pytest.approx(whole(pixels).numpy(), abs=1e-4)
    assert (encode.about.name, encode.about.trained) == ("timm:test_resnet?size=32&weights=other.pth", True)
    torch.save(dict(reversed(named.items())), tmp_path / "other.pth")
    with pytest.raises(UsageError, match="have them in another order"):
        FrozenImages(asked(f"timm:test_resnet?weights={tmp_path / 'other.pth'}", "timm", False))


class Pickled:
    """Makes a folder when it is unpickled."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.mkdir, (str(self._place),))


def test_weights_that_are_code_are_not_loaded(tmp_path: Path) -> None:
    timm_folder(tmp_path / "mine")
    (tmp_path / "mine" / "model.safetensors").unlink()
    torch.save({"weight": Pickled(tmp_path / "made")}, tmp_path / "mine" / "pytorch_model.bin")
    with pytest.raises(UsageError, match=r'encoder "timm:mine": it cannot be loaded \(UnpicklingError'):
        FrozenImages(asked(f"timm:{tmp_path / 'mine'}", "timm", False))
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "timm:test_resnet",
            "Give a local folder with config.json and model.safetensors (timm:FOLDER), or --untrained",
        ),
        ("timm:test_resnt", 'timm has no such model, and there is no such folder. Did you mean "test_resnet"?'),
        ("transformers:who/knows", "Give a local folder with what save_pretrained writes (transformers:FOLDER)"),
    ],
)
def test_weights_that_cannot_be_had_are_never_replaced_by_random_ones(offline: None, text: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        FrozenImages(asked(text, "timm", False))
    assert message in str(refused.value)


@pytest.mark.parametrize("text", ["timm:test_resnet?size=32&pretrained=false", "timm:test_resnet?size=32"])
def test_random_weights_are_asked_for_and_always_the_same(text: str) -> None:
    first, second = (FrozenImages(asked(text, "timm", "pretrained" not in text)) for _ in range(2))
    assert first.about == second.about
    assert not first.about.trained
    assert (first(pictures()) == second(pictures())).all()


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny CLIP with random weights, as save_pretrained writes it."""
    from benchsuite.torchvision_ops import make_importable

    make_importable()
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import CLIPConfig, CLIPModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("clip")
    small = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    words = {"<pad>": 0, "<end>": 1, "a": 2, "cat": 3, "dog": 4}
    text = {
        **small,
        "vocab_size": 5,
        "max_position_embeddings": 6,
        "eos_token_id": 1,
        "bos_token_id": 0,
        "pad_token_id": 0,
    }
    vision = {**small, "image_size": 16, "patch_size": 8}
    torch.manual_seed(1)
    CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=12)).save_pretrained(folder)
    tokenizer = Tokenizer(WordLevel(words, unk_token="<pad>"))
    tokenizer.pre_tokenizer = Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<end>").save_pretrained(folder)
    shown = {"image_mean": [0.5, 0.4, 0.3], "image_std": [0.2, 0.2, 0.2], "image_processor_type": "CLIPImageProcessor"}
    (folder / "preprocessor_config.json").write_text(json.dumps(shown))
    return folder


def test_both_sides_of_a_clip_model_are_its_projected_features(clip: Path) -> None:
    from transformers import CLIPModel

    model = CLIPModel.from_pretrained(clip).eval()
    images = FrozenImages(asked(f"transformers:{clip}", "timm", False))
    texts = FrozenTexts(asked(str(clip), "transformers", False), Data(name="none"), Split("train", np.empty((0, 1))))
    pixels = torch.tensor(pictures()[:, :16, :16]).permute(0, 3, 1, 2) / 255
    pixels = (pixels - torch.tensor([0.5, 0.4, 0.3]).view(3, 1, 1)) / 0.2
    ids, mask = torch.tensor([[2, 3, 1], [4, 1, 0]]), torch.tensor([[1, 1, 1], [1, 1, 0]])
    with torch.inference_mode():
        out = model(input_ids=ids, attention_mask=mask, pixel_values=pixels)
    found = {"image": images(pictures()[:, :16, :16]), "text": texts(["a cat <end>", "dog <end>"])}
    for side, expected in (("image", out.image_embeds), ("text", out.text_embeds)):
        rows = torch.tensor(found[side])
        assert torch.nn.functional.normalize(rows, dim=1).numpy() == pytest.approx(expected.numpy(), abs=1e-5)
    assert images.about.weights == texts.about.weights


def test_a_text_encoder_of_a_folder_is_read_with_its_own_tokenizer(clip: Path, tmp_path: Path) -> None:
    from transformers import AutoTokenizer, DistilBertConfig, DistilBertModel

    model = DistilBertModel(DistilBertConfig(vocab_size=5, dim=16, n_layers=1, n_heads=2, hidden_dim=16)).eval()
    model.save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(clip).save_pretrained(tmp_path)
    nothing = Split("train", np.empty((0, 1)))
    encode = FrozenTexts(asked(str(tmp_path), "transformers", False), Data(name="none"), nothing)
    with torch.inference_mode():
        states = model(input_ids=torch.tensor([[2, 3]])).last_hidden_state[0]
    assert encode(["a cat", "dog"])[0] == pytest.approx(states.mean(0).numpy(), abs=1e-5)
    last = FrozenTexts(asked(f"{tmp_path}?pool=last", "transformers", False), Data(name="none"), nothing)
    assert last(["dog", "a cat"])[1] == pytest.approx(states[-1].numpy(), abs=1e-5)
