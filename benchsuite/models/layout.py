"""What is stored of trained towers: the file of weights that a run keeps, and the folder that `benchsuite weights`
makes of it. Nothing here needs torch.
"""

import base64
import json
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from benchsuite.errors import UsageError, first_line
from benchsuite.fields import first_problem
from benchsuite.files import sha256_of
from benchsuite.parts import Part, Plain
from benchsuite.setup import Setup

CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer"
"""Of the folder: two files, and the folder with the tokenizer's."""
METADATA = "benchsuite"
"""The key of the metadata of a safetensors file."""
KIND = "benchsuite-encoder"


class Inputs(Part):
    """What the towers take besides what the setup says."""

    pictures: tuple[int, ...] = ()
    """Shape of a picture: [H, W, 3], of a clip [T, H, W, 3], of a vector [D]. Empty without an image tower."""
    words: int = 0
    """Entries of the tokenizer, or numbers in a vector of a text. 0 without a text tower."""
    image_config: Plain | None = None
    """Its library's configuration of the model that an image tower is a side of."""
    text_config: Plain | None = None
    """The same for a text tower, or transformers' configuration of one that started from pretrained weights."""


class Kept(Inputs):
    """The metadata of a kept file of weights: all that it takes to rebuild the towers, with the run's setup."""

    format: Literal[1] = 1
    run: str = ""
    """The run_id."""
    tokenizer: dict[str, str] = {}
    """The tokenizer's files by name, each in base64."""

    def tokenizer_files(self) -> dict[str, bytes]:
        return {name: base64.b64decode(content) for name, content in self.tokenizer.items()}


class Exported(Part):
    """`config.json` of an exported folder."""

    kind: Literal["benchsuite-encoder"] = "benchsuite-encoder"
    format: Literal[1] = 1
    run: Plain
    """run_id, setup_id, method, seed, recipe, the record's digest, and when it was made."""
    setup: Setup
    """The run's, with towers, projection, data and protocols. Folders are no part of it."""
    inputs: Inputs
    environment: Plain
    """Versions, device and threads of the run."""
    files: dict[str, str]
    """SHA-256 of each other file of the folder, by path."""


def read_kept(file: Path) -> Kept:
    """The metadata of a kept file of weights."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="numpy") as opened:
            about = json.loads((opened.metadata() or {})[METADATA])
        return Kept.model_validate(about)
    except (SafetensorError, OSError, KeyError, ValueError) as error:
        raise UsageError(f"{file}: not weights that benchsuite kept, or damaged ({first_line(error)}).") from error


def read_exported(folder: Path) -> Exported:
    """The configuration of an exported folder, all of whose files must be as they were written."""
    file = folder / CONFIG
    if not file.is_file():
        raise UsageError(f"{folder}: no {CONFIG}. {MADE_BY}")
    try:
        content = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{file}: not JSON ({first_line(error)}). {AGAIN}") from error
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise UsageError(f"{file}: not the configuration of an encoder of benchsuite. {_other_kind(folder, content)}")
    try:
        exported = Exported.model_validate(content)
    except ValidationError as error:
        raise UsageError(f"{file}: {first_problem(error)}. {AGAIN}") from error
    for name, sha in exported.files.items():
        inside, what = Path(name), "words" if name.startswith(TOKENIZER) else "weights"
        if inside.is_absolute() or ".." in inside.parts:
            raise UsageError(f"{folder / CONFIG}: files.{name} is not in the folder. {AGAIN}")
        if not (folder / name).is_file():
            raise UsageError(f"{folder}: {name} is missing, so no {what} can be read. {AGAIN}")
        if sha256_of(folder / name) != sha:
            raise UsageError(f"{folder / name}: not what was exported: {what} were edited, or damaged. {AGAIN}")
    return exported


MADE_BY = "Give a folder that `benchsuite weights RUN --out FOLDER` made."
AGAIN = "Export it again with `benchsuite weights`."


def _other_kind(folder: Path, content: Any) -> str:
    if isinstance(content, dict) and "architecture" in content:
        return f"It is a timm model: write timm:{folder}."
    if isinstance(content, dict) and "model_type" in content:
        return f"It is a transformers model: write transformers:{folder}."
    return MADE_BY
