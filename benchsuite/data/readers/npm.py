"""Packages of npm in a folder: sets of icons (SVG in one JSON), and what people call emoji. Nothing is downloaded."""

import re
import tarfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.readers.files import json_of, read_json, require_folder
from benchsuite.data.readers.images import decoded, open_image
from benchsuite.errors import UsageError

SET = "@iconify-json/"
LAYOUT = "npm packages (docs/emoji.md says which): .tgz files of `npm pack`, or node_modules of `npm install`"
ARCHIVE = re.compile(r"(iconify-json-)?(.+?)-\d+\.\d+\.\d+.*\.tgz")


def packages_in(dataset: str, folder: str) -> dict[str, Path]:
    """Packages by name: the archive, or an installed one's package.json."""
    root = require_folder(dataset, folder, LAYOUT)
    archives = [(match, file) for file in root.glob("*.tgz") if (match := ARCHIVE.fullmatch(file.name))]
    found = [((SET if match[1] else "") + match[2], file) for match, file in archives]
    for base in (root, root / "node_modules"):
        installed = [*base.glob(f"{SET}*/package.json"), *base.glob("emojibase-data/package.json")]
        found += [(file.parent.relative_to(base).as_posix(), file) for file in installed]
    for name, count in Counter(name for name, _ in found).items():
        if count > 1:
            raise UsageError(f"{dataset}: {root} has the package {name} {count} times. Keep one version of it.")
    return dict(sorted(found))


def content(package: Path, name: str, key: str = "") -> Any:
    """What a JSON file of a package says; nothing if it is not there. With `key` it must be there, and have that."""
    found: Any = {}
    if package.suffix != ".tgz":
        file = package.parent / name
        found = read_json(file) if file.is_file() else {}
    else:
        try:
            with tarfile.open(package) as archive:
                stream = archive.extractfile(f"package/{name}")
                found = json_of(stream.read().decode() if stream else "{}", f"{package}, {name}")
        except KeyError:
            pass
        except (tarfile.TarError, EOFError, OSError) as error:
            raise UsageError(f"{package}: not a whole archive ({error}). Fetch it again.") from error
    if key and (not isinstance(found, dict) or key not in found):
        raise UsageError(f"{package}: its {name} has no {key}. Fetch it again.")
    return found


def picture(icons: Mapping[str, Any], name: str, pixels: int, where: str) -> NDArray[np.uint8]:
    """An icon of an icons.json, whole, in the middle of a white square: uint8 [pixels, pixels, 3].

    An alias is its parent's drawing, mirrored or turned.
    """
    try:
        import resvg_py
    except ModuleNotFoundError as error:
        raise UsageError(f"{where}: resvg-py is missing. Install it: pip install 'benchsuite[pictures]'.") from error
    parts = [icons["icons"].get(name) or icons["aliases"][name]]
    while "parent" in parts[-1] and len(parts) <= len(icons.get("aliases", ())):
        parts.append(icons["icons"].get(parts[-1]["parent"]) or icons["aliases"][parts[-1]["parent"]])
    shape = {"left": 0, "top": 0, "width": 16, "height": 16, "body": "", **icons}
    for part in reversed(parts):
        shape |= part
    wide, high = shape["width"], shape["height"]
    side = max(wide, high)
    box = f"{shape['left'] - (side - wide) / 2} {shape['top'] - (side - high) / 2} {side} {side}"
    names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    svg = f'<svg {names} viewBox="{box}">{shape["body"]}</svg>'
    look: dict[str, Any] = {"width": pixels, "height": pixels, "background": "white", "skip_system_fonts": True}
    image = decoded(
        lambda: open_image(bytes(resvg_py.svg_to_bytes(svg_string=svg, **look))), f"{where}, {name}", pixels
    )
    for axis, key in enumerate(("vFlip", "hFlip")):
        image = np.flip(image, axis) if sum(bool(part.get(key)) for part in parts) % 2 else image
    return np.ascontiguousarray(np.rot90(image, -sum(part.get("rotate", 0) for part in parts)))
