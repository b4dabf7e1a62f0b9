"""Pictures of named concepts in several styles, from npm packages: emoji, or any sets of icons."""

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchsuite.canonical import short_digest
from benchsuite.data.cached import load, made_once, save
from benchsuite.data.readers.files import stamp
from benchsuite.data.readers.images import in_threads
from benchsuite.data.readers.npm import LAYOUT, SET, content, packages_in, picture
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
