"""Encoders as they are asked for by name: LIBRARY:NAME?key=value."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from benchsuite.errors import UsageError, first_line

LIBRARIES = {"timm": "timm", "transformers": "transformers", "open_clip": "open_clip_torch"}
"""And the packages that they are in."""
FOLDERS = {
    "timm": "config.json and model.safetensors",
    "transformers": "what save_pretrained writes",
    "open_clip": "open_clip_config.json and open_clip_model.safetensors",
}


@dataclass(frozen=True)
class Asked:
    """`LIBRARY:NAME?key=value&key=value`, taken apart."""

    library: str
    name: str
    options: dict[str, Any]
    trained: bool
    option: str = "--image"
    """Of the command line, for messages; "model" where it is the argument."""

    @property
    def shown(self) -> str:
        """As it is stored: a local folder by its last name, as paths identify nothing."""
        name = Path(self.name).name if Path(self.name).is_dir() else self.name
        given = {key: _last(value) for key, value in self.options.items()}
        options = "&".join(f"{key}={value}" for key, value in given.items())
        return f"{self.library}:{name}{'?' * bool(options)}{options}"


@contextmanager
def refusing(asked: Asked) -> Iterator[None]:
    """What goes wrong inside is told as a refusal of the encoder: the hub and each model fail in their own ways."""
    try:
        yield
    except UsageError:
        raise
    except Exception as error:
        untrained = ", or --untrained for random weights, whose features say nothing" * (asked.option != "model")
        folder = f"{FOLDERS[asked.library]} ({asked.library}:FOLDER)"
        remedy = f" Give a local folder with {folder}{untrained}." * asked.trained
        raise UsageError(f'encoder "{asked.shown}": it cannot be loaded ({first_line(error)}).{remedy}') from error


def other_architecture(name: str, wrong: RuntimeError | Sequence[str]) -> UsageError:
    """A checkpoint that is not of the model that its configuration describes, by the keys or torch's words for them."""
    if isinstance(wrong, RuntimeError):
        keys = [key or other for key, other in re.findall(r'"([\w.]+)"|size mismatch for ([\w.]+)', str(wrong))]
        if not keys:
            raise wrong
    else:
        keys = [*wrong]
    return UsageError(
        f"{name}: its weights are of another architecture than its configuration: they differ in "
        f"{', '.join(keys[:3])}{f' and {len(keys) - 3} more' if len(keys) > 3 else ''}."
    )


def asked(text: str, library: str, untrained: bool, option: str = "--image") -> Asked:
    """What the command line asks for; `library` is meant where none is named."""
    given, colon, rest = text.partition(":")
    if colon and given in LIBRARIES:
        library, text = given, rest
    elif library == "timm":
        raise UsageError(f'--image "{text}": write timm:NAME, timm:FOLDER or transformers:NAME.')
    name, _, query = text.partition("?")
    options = {key: _value(value) for key, value in parse_qsl(query)}
    trained = not untrained and options.get("pretrained", True) is not False
    if library != "open_clip":  # where it names the weights
        options.pop("pretrained", None)
    return Asked(library, name, options, trained, option)


def _last(value: Any) -> Any:
    """Of a path its last name."""
    return Path(value).name if isinstance(value, str) and Path(value).is_file() else value


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
