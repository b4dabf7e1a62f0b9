"""Other people's models with random weights, in folders as their libraries write them: no hub is reached."""

import json
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from benchsuite.torchvision_ops import make_importable

make_importable()
WORDS = ("a", "photo", "of", "red", "green", "blue", "yellow", "grey", "big", "square", "circle", "on", "left", "right")
SIDE = 32


def tokenizer_of() -> Any:
    """A CLIP tokenizer's behaviour on a few words: begin, words, end, padded with the end."""
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: i for i, word in enumerate(["<unk>", *WORDS, "<start>", "<end>"])}
    made = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))
    made.pre_tokenizer = Whitespace()
    ends = [(name, vocabulary[name]) for name in ("<start>", "<end>")]
    made.post_processor = TemplateProcessing(single="<start> $A <end>", special_tokens=ends)
    return PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="<unk>", bos_token="<start>", eos_token="<end>", pad_token="<end>",
        model_max_length=16,
    )  # fmt: skip


def transformers_clip(folder: Path) -> Path:
    """A tiny CLIP of transformers."""
    from transformers import CLIPConfig, CLIPModel

    words = tokenizer_of()
    small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    text = {**small, "vocab_size": len(words), "max_position_embeddings": 16, "bos_token_id": words.bos_token_id,
            "eos_token_id": words.eos_token_id, "pad_token_id": words.pad_token_id}  # fmt: skip
    torch.manual_seed(1)
    vision = {**small, "image_size": SIDE, "patch_size": 8}
    model = CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=24))
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    mean, std = [0.48, 0.46, 0.41], [0.27, 0.26, 0.28]
    pictures = {"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": SIDE}, "do_center_crop": True}
    (folder / "preprocessor_config.json").write_text(json.dumps({**pictures, "image_mean": mean, "image_std": std}))
    return folder


def transformers_siglip(folder: Path) -> Path:
    """A tiny SigLIP of transformers: texts are padded to their full length, and no mask tells where they end."""
    from transformers import SiglipConfig, SiglipModel

    words = tokenizer_of()
    small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    text = {**small, "vocab_size": len(words), "max_position_embeddings": 16}
    torch.manual_seed(5)
    vision = {**small, "image_size": SIDE, "patch_size": 8}
    SiglipModel(SiglipConfig(text_config=text, vision_config=vision)).save_pretrained(folder)
    words.save_pretrained(folder)
    pictures = {"image_processor_type": "SiglipImageProcessor", "size": {"height": SIDE, "width": SIDE}}
    half = [0.5, 0.5, 0.5]
    (folder / "preprocessor_config.json").write_text(json.dumps({**pictures, "image_mean": half, "image_std": half}))
    return folder


def open_clip_clip(folder: Path) -> Path:
    """A tiny CLIP of open_clip, in its layout on the hub."""
    from open_clip.model import CLIP
    from safetensors.torch import save_file

    config = {
        "embed_dim": 24,
        "vision_cfg": {"image_size": SIDE, "layers": 2, "width": 32, "head_width": 16, "patch_size": 8},
        "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 2},
    }
    torch.manual_seed(2)
    folder.mkdir(parents=True, exist_ok=True)
    save_file({n: t.clone() for n, t in CLIP(**config).state_dict().items()}, folder / "open_clip_model.safetensors")
    pictures = {"size": SIDE, "mean": [0.48, 0.46, 0.41], "std": [0.27, 0.26, 0.28]}
    (folder / "open_clip_config.json").write_text(json.dumps({"model_cfg": config, "preprocess_cfg": pictures}))
    return folder


def timm_resnet(folder: Path) -> Path:
    """timm's smallest ResNet, in its layout on the hub."""
    return _timm(folder, "test_resnet")


def timm_vit(folder: Path) -> Path:
    """timm's smallest vision transformer with two blocks."""
    return _timm(folder, "test_vit", depth=2)


def _timm(folder: Path, name: str, **options: Any) -> Path:
    import timm
    from safetensors.torch import save_file

    torch.manual_seed(3)
    folder.mkdir(parents=True, exist_ok=True)
    cfg = {"mean": [0.4, 0.5, 0.6], "std": [0.2, 0.3, 0.4], "input_size": [3, SIDE, SIDE]}
    model = timm.create_model(name, num_classes=7, pretrained_cfg_overlay=cfg, **options)
    save_file({n: t.clone() for n, t in model.state_dict().items()}, folder / "model.safetensors")
    about = {"architecture": name, "num_classes": 7, "pretrained_cfg": cfg, "model_args": options}
    (folder / "config.json").write_text(json.dumps(about))
    return folder


def transformers_text(folder: Path, seed: int = 4) -> Path:
    """A tiny DistilBERT of transformers."""
    from transformers import DistilBertConfig, DistilBertModel

    words = tokenizer_of()
    torch.manual_seed(seed)
    config = DistilBertConfig(
        vocab_size=len(words), dim=16, hidden_dim=32, n_layers=1, n_heads=2, max_position_embeddings=16, pad_token_id=0
    )
    DistilBertModel(config).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def opened_by_open_clip(folder: Path) -> tuple[Any, Any, Any]:
    """The model, the transform of its pictures, and its tokenizer."""
    import open_clip

    place = f"local-dir:{folder}"
    model, _, transform = open_clip.create_model_and_transforms(place)
    return model, transform, open_clip.get_tokenizer(place)
