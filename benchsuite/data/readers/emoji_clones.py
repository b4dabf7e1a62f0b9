"""Clones of the repositories with emoji: their picture files, and names, keywords and categories of three of them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchsuite.data.readers.files import read_json, require_file
from benchsuite.errors import UsageError

ART = {"noto": "noto-emoji", "blob": "blobmoji", "emojitwo": "emojitwo"}
"""Folder of the clone, by style."""
CLONES: Mapping[str, str] = {
    "noto-emoji": "googlefonts/noto-emoji",
    "blobmoji": "C1710/blobmoji",
    "emojitwo": "EmojiTwo/emojitwo",
    "emojilib": "muan/emojilib",
    "gemoji": "github/gemoji",
}
"""Repository by folder."""
TEXTS = ("emojilib/dist/emoji-en-US.json", "gemoji/db/emoji.json", "emojitwo/emoji.json")
SIZES = ("png/128", "png/72", "png/64", "png/512", "png")
"""Folders of pictures; the one with most of them is read, the first of equals."""
FILE = re.compile(r"(?:emoji_u)?([0-9a-f]{2,6}(?:[-_][0-9a-f]{2,6})*)\.png", re.IGNORECASE)
TONES = ("light", "medium-light", "medium", "medium-dark", "dark")
OTHER = "other"
CATEGORIES = (
    *("Smileys & Emotion", "People & Body", "Animals & Nature", "Food & Drink", "Travel & Places"),
    *("Activities", "Objects", "Symbols", "Flags"),
    OTHER,
)
"""Unicode's, which gemoji uses, and one for pictures that have none."""
OLDER = {
    "people": "People & Body",
    "nature": "Animals & Nature",
    "food": "Food & Drink",
    "travel": "Travel & Places",
    "activity": "Activities",
    "regional": "Symbols",
}
"""EmojiTwo's names of categories that are not the beginning of Unicode's."""
_FIRST_TONE = 0x1F3FB


def sequence_of(points: Iterable[int]) -> str:
    """Code points as hex numbers, without variation selectors."""
    return "-".join(f"{point:x}" for point in points if point != 0xFE0F)


def base_of(sequence: str) -> tuple[str, int]:
    """The sequence without skin tones, and the tone: 0 for none, 1 (light) to 5 (dark), -1 for several.

    A tone alone is an emoji of its own.
    """
    points = [int(point, 16) for point in sequence.split("-")]
    tones = {point - _FIRST_TONE + 1 for point in points if 0 <= point - _FIRST_TONE < len(TONES)}
    bare = sequence_of(point for point in points if not 0 <= point - _FIRST_TONE < len(TONES))
    if not tones or not bare:
        return sequence, 0
    return bare, tones.pop() if len(tones) == 1 else -1


def cleaned(name: str, keywords: Iterable[str], category: str) -> tuple[str, tuple[str, ...], str]:
    """Words without underscores, keywords that say something else than the name, sorted, and Unicode's category."""
    name = " ".join(name.replace("_", " ").split())
    words = {" ".join(word.replace("_", " ").split()) for word in keywords} - {name}
    category = OLDER.get(category, category)
    known = next((own for own in CATEGORIES if own.lower() == category.lower()), OTHER)
    return name, tuple(sorted(word for word in words if re.search(r"[^\W_]{2}", word))), known


def clone_files(root: Path) -> dict[str, Path]:
    """Pictures by "style sequence", and the files of texts by their path. Several skin tones in one picture are left
    out.
    """
    if missing := [folder for folder in CLONES if not (root / folder).is_dir()]:
        commands = [f"  git clone --depth 1 https://github.com/{CLONES[name]} {name}" for name in missing]
        raise UsageError(f"{root}: neither parquet files nor a folder {missing[0]}. There, run:", more=commands)
    files = {name: require_file(root / name, f"a whole clone of {CLONES[name.split('/')[0]]}") for name in TEXTS}
    for style, clone in ART.items():
        pictures = _pictures(root / clone)
        files |= {f"{style} {sequence}": path for sequence, path in pictures.items() if base_of(sequence)[1] >= 0}
    return files


def _pictures(clone: Path) -> dict[str, Path]:
    by_size: list[dict[str, Path]] = []
    for size in SIZES:
        found: dict[str, Path] = {}
        for path in sorted((clone / size).glob("*.png"), key=lambda path: (len(path.name), path.name)):
            if match := FILE.fullmatch(path.name):
                found.setdefault(sequence_of(int(p, 16) for p in re.split("[-_]", match[1])), path)
        by_size.append(found)
    most = max(by_size, key=len)
    if not most:
        raise UsageError(f"{clone}: no pictures such as png/128/emoji_u1f600.png or png/1f600.png. Clone it again.")
    return most


class CloneNames:
    """What emojilib, gemoji and EmojiTwo say of an emoji; the name of the first that has one."""

    def __init__(self, root: Path) -> None:
        library, gemoji, two = (root / name for name in TEXTS)
        self._library = {_sequence(emoji): (words[0], words[1:]) for emoji, words in _items(library)}
        self._gemoji = {_sequence(row["emoji"]): row for row in _listed(gemoji)}
        self._two = {_points(two, key, row): row for key, row in _items(two)}

    def of(self, sequence: str) -> Mapping[str, Any] | None:
        """Name, keywords and category, of the base where this skin tone has none of its own; None without a name."""
        base, tone = base_of(sequence)
        name, words = self._library.get(base, ("", []))
        gemoji, two = self._gemoji.get(base, {}), self._two.get(base, {})
        name = name or gemoji.get("description", "") or two.get("name", "")
        if not name:
            return None
        return {
            "name": f"{name}, {TONES[tone - 1]} skin tone" if tone else name,
            "keywords": [*words, *gemoji.get("tags", ()), *two.get("keywords", ())],
            "category": gemoji.get("category") or two.get("category") or OTHER,
        }


def _sequence(emoji: str) -> str:
    return sequence_of(map(ord, emoji))


def _points(file: Path, key: str, row: Mapping[str, Any]) -> str:
    """EmojiTwo's code points, which stand in one of three places."""
    points = row.get("unicode") or row.get("code_points", {}).get("base") or key
    try:
        return sequence_of(int(point, 16) for point in points.split("-"))
    except ValueError as error:
        raise UsageError(f"{file}, {key}: {points} are not code points such as 1f468-200d-1f466.") from error


def _items(file: Path) -> Iterator[tuple[str, Any]]:
    content = read_json(file)
    if not isinstance(content, dict):
        raise UsageError(f"{file}: not a JSON object by emoji.")
    yield from content.items()


def _listed(file: Path) -> Sequence[Mapping[str, Any]]:
    content = read_json(file)
    if not isinstance(content, list):
        raise UsageError(f"{file}: not a JSON list of emoji.")
    return content
