"""A few emoji and icons in npm packages, as `npm pack` and as `npm install` write them."""

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CONCEPTS: Mapping[str, tuple[str, int, int, tuple[str, ...]]] = {
    "1F600": ("grinning face", 0, 0, ("happy", "joy", "smile")),
    "1F622": ("crying face", 0, 1, ("sad", "tears")),
    "1F436": ("dog face", 3, 34, ("animal", "pet")),
    "1F431": ("cat face", 3, 34, ("animal", "meow")),
    "1F34E": ("red apple", 4, 42, ("fruit", "red apple")),
    "2764-FE0F": ("red heart", 0, 1, ("love",)),
    "1F44D": ("thumbs up", 1, 20, ("hand", "yes")),
    "1F468-200D-1F467": ("family: man, girl", 1, 20, ("home",)),
    "0023-FE0F-20E3": ("keycap: #", 8, 90, ()),
    "1F697": ("car", 5, 50, ("ride",)),
}
"""Label, group, subgroup and tags by code points."""
GROUPS = {0: "smileys & emotion", 1: "people & body", 3: "animals & nature", 4: "food & drink", 5: "travel & places",
          8: "symbols"}  # fmt: skip
STYLES = ("noto", "noto-v1", "twemoji")
Packages = dict[str, dict[str, Any]]
"""JSON files by package and name."""


def disc(*about: str, side: int = 32) -> str:
    """SVG of a disc in a colour that only this style and name has, left of the middle."""
    colour = hashlib.sha256(" ".join(about).encode()).hexdigest()[:6]
    return f'<circle cx="{side / 4}" cy="{side / 2}" r="{side / 8}" fill="#{colour}"/>'


def slug(label: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in label).split())


def a_set(style: str, names: list[str], **more: Any) -> dict[str, Any]:
    info = {"name": style.title(), "author": {"name": "A. Uthor"}, "license": {"title": "CC BY 4.0"}}
    icons = {"width": 32, "height": 32, "icons": {name: {"body": disc(style, name)} for name in names}, **more}
    return {"icons.json": icons, "info.json": info, "package.json": {"version": "1.2.3"}}


def emoji_packages() -> Packages:
    """Three styles; noto alone says which icon is which emoji, and names the dog its own way."""
    labels = [label for label, *_ in CONCEPTS.values()]
    slugs = {points.lower().replace("fe0f-", ""): slug(label) for points, (label, *_) in CONCEPTS.items()}
    packages = {f"@iconify-json/{style}": a_set(style, [slug(label) for label in labels]) for style in STYLES}
    noto = packages["@iconify-json/noto"]
    noto["icons.json"]["icons"]["hound"] = noto["icons.json"]["icons"].pop("dog-face")
    noto["icons.json"]["icons"]["thumbs-up-dark-skin-tone"] = {"body": disc("dark")}
    noto["chars.json"] = {**slugs, "1f436": "hound", "1f44d-1f3ff": "thumbs-up-dark-skin-tone"}
    packages["@iconify-json/noto-v1"]["icons.json"]["aliases"] = {"hound": {"parent": "dog-face", "hFlip": True}}
    entries: list[dict[str, Any]] = [
        {"hexcode": points, "label": label, "group": group, "subgroup": sub, "tags": list(tags), "order": 1}
        for points, (label, group, sub, tags) in CONCEPTS.items()
    ]
    subgroups = sorted({sub for _, _, sub, _ in CONCEPTS.values()})
    packages["emojibase-data"] = {
        "package.json": {"version": "17.0.0"},
        "en/data.json": [{"hexcode": "1F1E6", "label": "regional indicator A"}, *entries],
        "en/messages.json": {
            "groups": [{"order": order, "message": message} for order, message in GROUPS.items()],
            "subgroups": [{"order": sub, "message": f"subgroup {sub}"} for sub in subgroups],
        },
    }
    return packages


def icon_packages() -> Packages:
    names = ["home", "home-outline", "arrow-left", "camera-2", "moon", "sun", "cup"]
    return {
        "@iconify-json/mdi": a_set("mdi", names),
        "@iconify-json/ph": a_set("ph", ["home-bold", "left-arrow", "camera", "moon-fill", "sun", "cup", "bee"]),
    }


def packed(folder: Path, packages: Packages) -> Path:
    """As `npm pack` does: iconify-json-noto-1.2.3.tgz."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, files in packages.items():
        version = files["package.json"]["version"]
        with tarfile.open(folder / f"{name.removeprefix('@').replace('/', '-')}-{version}.tgz", "w:gz") as archive:
            for file, content in files.items():
                member, data = tarfile.TarInfo(f"package/{file}"), json.dumps(content).encode()
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    return folder


def installed(folder: Path, packages: Packages) -> Path:
    """As `npm install` does, in node_modules."""
    for name, files in packages.items():
        for file, content in files.items():
            place = folder / "node_modules" / name / file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(json.dumps(content), "utf-8")
    return folder
