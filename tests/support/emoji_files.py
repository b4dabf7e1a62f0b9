"""A few emoji in the layouts of the public repositories, and the same as a parquet file."""

import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image, ImageDraw

CONCEPTS: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "1f600": ("grinning face", "Smileys & Emotion", ("smile", "happy", "joy")),
    "1f622": ("crying face", "Smileys & Emotion", ("sad", "tears")),
    "1f436": ("dog face", "Animals & Nature", ("animal", "pet")),
    "1f431": ("cat face", "Animals & Nature", ("animal", "meow")),
    "1f34e": ("red apple", "Food & Drink", ("fruit", "school")),
    "2764": ("red heart", "Smileys & Emotion", ("love", "valentines")),
    "1f44d": ("thumbs up", "People & Body", ("hand", "yes")),
    "1f468-200d-1f467": ("family man girl", "People & Body", ("home", "parent")),
    "23-20e3": ("keycap hash", "Symbols", ("symbol", "twitter")),
    "1f697": ("car", "Travel & Places", ()),
}
"""Name, category and keywords of what all three styles draw."""
SINGLE = {"1f1eb-1f1f7": ("flag france", "Flags", ("flag", "nation"))}
"""The same of what EmojiTwo alone draws."""
TONES = {"1f3fb": "light", "1f3ff": "dark"}
CLONES = {"noto": "noto-emoji", "blob": "blobmoji", "emojitwo": "emojitwo"}


def picture(style: str, sequence: str, size: tuple[int, int] = (64, 64)) -> Image.Image:
    """A disc on nothing, of a colour that only this style and sequence has."""
    image = Image.new("RGBA", size, (0, 0, 0, 0))
    red, green, blue = hashlib.sha256(f"{style} {sequence}".encode()).digest()[:3]
    ImageDraw.Draw(image).ellipse((8, 8, size[0] - 8, size[1] - 8), fill=(red, green, blue, 255))
    return image


def encoded(image: Image.Image, level: int = 6) -> bytes:
    stream = io.BytesIO()
    image.save(stream, "PNG", compress_level=level)
    return stream.getvalue()


def sequences(style: str) -> list[str]:
    """What a style draws: all concepts, and one in two skin tones."""
    toned = [f"1f44d-{tone}" for tone in TONES]
    return [*CONCEPTS, *toned, *(SINGLE if style == "emojitwo" else ())]


def emoji(sequence: str) -> str:
    """As characters, the heart with the selector that asks for a picture."""
    text = "".join(chr(int(point, 16)) for point in sequence.split("-"))
    return text + "\ufe0f" if sequence == "2764" else text


def size_of(style: str) -> tuple[int, int]:
    return (136, 128) if style == "noto" else (64, 64)


def write_emoji_clones(folder: Path, code_points: bool = True) -> Path:
    """Clones as they are: `code_points` is the newer layout of EmojiTwo's emoji.json.

    emojilib knows all but the car (gemoji does) and the flag (EmojiTwo does).
    """
    for style, clone in CLONES.items():
        place = folder / clone / ("png" if style == "emojitwo" else "png/128")
        place.mkdir(parents=True)
        for sequence in sequences(style):
            points = sequence.replace("23-", "0023-").split("-")
            name = "-".join(points) if style == "emojitwo" else "emoji_u" + "_".join(points)
            (place / f"{name}.png").write_bytes(encoded(picture(style, sequence, size_of(style))))
        if style == "noto":
            for name in ("emoji_u1f468_1f3fb_200d_1f467_1f3ff", "emoji_ue50a", "emoji_2603", "emoji_u2764_fe0f"):
                (place / f"{name}.png").write_bytes(encoded(picture(style, "1f600")))
        (place / "README.txt").write_text("not a picture")
    few = folder / "emojitwo/png/128"
    few.mkdir()
    (few / "1f600.png").write_bytes(b"of another release")

    every = {**CONCEPTS, **SINGLE}
    library = {
        emoji(sequence): [name.replace(" ", "_"), *words[:1], ":D"]
        for sequence, (name, _, words) in CONCEPTS.items()
        if name != "car"
    }
    rows = [
        {"emoji": emoji(s), "description": name, "category": category, "aliases": ["x"], "tags": list(words[1:2])}
        for s, (name, category, words) in CONCEPTS.items()
    ]
    two: dict[str, Any] = {}
    for sequence, (name, category, words) in every.items():
        about = {"name": name, "category": category.lower().split()[0], "keywords": [*words[2:], *words[:1]]}
        if sequence in SINGLE:
            about["keywords"] = list(words)
        where = {"code_points": {"base": sequence}} if code_points else {"unicode": sequence}
        two[sequence if code_points else name] = {**about, **where}
    for name, content in (
        ("emojilib/dist/emoji-en-US.json", library),
        ("gemoji/db/emoji.json", rows),
        ("emojitwo/emoji.json", two),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(content), "utf-8")
    return folder


def emoji_rows(level: int = 6) -> list[dict[str, Any]]:
    """The rows of the parquet file, in another order and spelling than the clones have."""
    rows = []
    for style in CLONES:
        for sequence in reversed(sequences(style)):
            base, _, tone = sequence.partition("-1f3f")
            name, category, words = {**CONCEPTS, **SINGLE}[base]
            size = size_of(style)
            square = Image.new("RGBA", (max(size), max(size)), "white")
            square.alpha_composite(
                picture(style, sequence, size), ((max(size) - size[0]) // 2, (max(size) - size[1]) // 2)
            )
            data = encoded(square.convert("RGB"), level)
            rows.append(
                {
                    "image": {"bytes": data, "path": f"{style}/{sequence}.png"},
                    "vendor": style,
                    "sequence": sequence,
                    "base": base,
                    "tone": {"": 0, "b": 1, "f": 5}[tone],
                    "name": f"{name}, {TONES['1f3f' + tone]} skin tone" if tone else name.replace(" ", "_"),
                    "keywords": [*reversed(words), ":)", *words[:1]],
                    "category": category.lower() if style == "blob" else category,
                }
            )
    return rows


def write_emoji_parquet(folder: Path, rows: list[dict[str, Any]] | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(emoji_rows() if rows is None else rows), folder / "emoji.parquet")
    return folder
