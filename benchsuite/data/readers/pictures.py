"""Pictures of named concepts in several styles, from npm packages in a folder: emoji, or any sets of icons.

A package has SVG in one JSON, or what people call emoji. Nothing is downloaded.
"""

import hashlib
import re
import tarfile
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchsuite.canonical import short_digest
from benchsuite.data.cached import load, made_once, save
from benchsuite.data.readers.files import json_of, read_json, require_folder, stamp
from benchsuite.data.readers.images import decoded, in_threads, open_image
from benchsuite.errors import UsageError
from benchsuite.paths import cache

VERSION = 1
"""Of how pictures are found and drawn, and of the kept arrays."""
WORDS = "emojibase-data"
VARIANTS = {
    *("outline", "outlined", "filled", "fill", "bold", "thin", "light", "regular", "duotone", "rounded", "sharp"),
    *("round", "line", "solid", "twotone", "alt", "variant"),
}
"""Last words of icons that draw another icon in another stroke."""


class Concept(NamedTuple):
    """What several styles draw: an emoji without skin tone, or the words of an icon's name."""

    concept: str
    name: str
    group: str = ""
    subgroup: str = ""
    words: Sequence[str] = ()
    """Other things that people call it."""


@dataclass(frozen=True)
class Pictures:
    """All pictures of a folder, in order of style and concept."""

    images: NDArray[np.uint8]
    """[n, pixels, pixels, 3], mapped from disk."""
    rows: list[list[str]]
    """Of each its style, its concept, and a digest of its pixels."""
    concepts: Mapping[str, Concept]
    credit: list[str]
    """Who drew each set, and under which licence."""

    @property
    def digest(self) -> str:
        return short_digest([self.rows, *self.concepts.values()])


def pictures_in(dataset: str, folder: str, pixels: int) -> Pictures:
    """Those of a folder, drawn at the first call, then read from the cache until a package changes."""
    packages = packages_in(dataset, folder)
    places = {name.removeprefix(SET): file for name, file in packages.items() if name.startswith(SET)}
    if not places or (dataset == "emoji" and WORDS not in packages):
        lacks = WORDS if places else f"{SET}..."
        raise UsageError(f"{dataset}: {folder} has no package {lacks}; it must hold {LAYOUT}.")

    def make(draft: Any) -> None:
        sets = {style: content(file, "icons.json", "icons") for style, file in places.items()}
        chars = {style: content(file, "chars.json") for style, file in places.items()}
        named, icons = emoji_in(sets, chars, packages[WORDS]) if dataset == "emoji" else icons_in(sets)
        jobs = sorted((style, concept, icon) for (style, concept), icon in icons.items())
        if not jobs:
            raise UsageError(f"{dataset}: {folder}: none of {', '.join(sets)} has a picture of a known concept.")
        images = in_threads(lambda job: picture(sets[job[0]], job[2], pixels, job[0]), jobs)
        rows = [
            [*job[:2], hashlib.sha256(image.data).hexdigest()[:16]] for job, image in zip(jobs, images, strict=True)
        ]
        shown = {concept for _, concept, _ in jobs}
        concepts = [[*about[:4], *about.words] for about in named if about.concept in shown]
        credit = [_credit(content(file, "info.json")) for file in places.values()]
        save({"images": np.stack(images), "rows": rows, "concepts": concepts, "credit": credit}, draft)

    key = short_digest([VERSION, dataset, pixels, stamp(packages)])
    stored = load(made_once(cache() / "pictures" / key, make))
    concepts = {key: Concept(key, name, one, two, words) for key, name, one, two, *words in stored["concepts"]}
    return Pictures(stored["images"], stored["rows"], concepts, [", ".join(parts) for parts in stored["credit"]])


def _credit(info: Mapping[str, Any]) -> list[str]:
    author, terms = info.get("author", {}), info.get("license", {})
    parts = (info.get("name"), author.get("name"), author.get("url"), terms.get("title"), terms.get("url"))
    return [part for part in parts if part]


def emoji_in(
    sets: Mapping[str, Any], chars: Mapping[str, Any], words: Any
) -> tuple[list[Concept], dict[tuple[str, str], str]]:
    """Emoji with a group, as emojibase has them, and the icon of each by style and emoji.

    A set's own chars.json says which icon is which emoji; sets without one use the others' names, or the label.
    """
    messages = content(words, "en/messages.json", "groups")
    group, subgroup = ({one["order"]: one["message"] for one in messages[kind]} for kind in ("groups", "subgroups"))
    own = {style: {sequence(points): icon for points, icon in given.items()} for style, given in chars.items()}
    concepts, icons = [], dict[tuple[str, str], str]()
    for entry in (entry for entry in content(words, "en/data.json") if "group" in entry):
        key, label = sequence(entry["hexcode"]), entry["label"]
        tags = [tag for tag in entry.get("tags", ()) if tag != label]
        concepts.append(Concept(key, label, group[entry["group"]], subgroup[entry["subgroup"]], tags))
        others = sorted(given[key] for given in own.values() if key in given)
        for style, known in sets.items():
            names = [own[style].get(key, ""), *others, slug(label)]
            drawn = [name for name in names if name in known["icons"] or name in known.get("aliases", ())]
            if drawn:
                icons[style, key] = drawn[0]
    return concepts, icons


def icons_in(sets: Mapping[str, Any]) -> tuple[list[Concept], dict[tuple[str, str], str]]:
    """Names of icons without numbers and variants, and the icon of each by style and name.

    The same words in another order are the same concept; of several icons of a set the shortest name is read.
    """
    names: dict[str, list[str]] = defaultdict(list)
    icons: dict[tuple[str, str], str] = {}
    for style, known in sets.items():
        for icon in sorted(known["icons"], key=lambda icon: (len(icon), icon)):
            words = icon.split("-")
            while len(words) > 1 and (words[-1] in VARIANTS or words[-1].isdigit()):
                words.pop()
            key = "-".join(sorted(words))
            names[key].append(" ".join(words))
            icons.setdefault((style, key), icon)
    return [Concept(key, own[0], words=sorted({*own} - {own[0]})) for key, own in sorted(names.items())], icons


def sequence(points: str) -> str:
    """Code points as hex numbers, without variation selectors."""
    return "-".join(point for point in points.lower().split("-") if point != "fe0f")


def slug(label: str) -> str:
    """A label as sets of icons write it."""
    plain = unicodedata.normalize("NFKD", label.lower().replace("&", "and"))
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"['’\u0300-\u036f]", "", plain)).strip("-")


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
