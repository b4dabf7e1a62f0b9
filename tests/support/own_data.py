"""A user's own data in each format: the same pictures, captions and classes."""

import io
import json
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

COUNT = 24
COLOURS = ("blue", "green", "red")


def picture(i: int) -> bytes:
    """A PNG of one colour with some noise."""
    from PIL import Image

    pixels = np.random.default_rng(i).integers(0, 60, (10, 12, 3)).astype(np.uint8)
    pixels[..., 2 - i % 3] += 150
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def name(i: int) -> str:
    return f"{i:02}.png"


def caption(i: int) -> str:
    return f"a {colour(i)} thing, number {i}"


def colour(i: int) -> str:
    return COLOURS[i % 3]


def write_pictures(folder: Path, count: int = COUNT) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(count):
        (folder / name(i)).write_bytes(picture(i))


def table(folder: str, count: int = COUNT) -> list[dict[str, str]]:
    return [{"image": f"{folder}{name(i)}", "caption": caption(i), "label": colour(i)} for i in range(count)]


def as_csv(rows: Sequence[dict[str, str]]) -> str:
    return "\n".join([",".join(rows[0]), *(",".join(json.dumps(cell) for cell in row.values()) for row in rows)]) + "\n"


def write_image_folder(folder: Path, count: int = COUNT) -> None:
    write_pictures(folder, count)
    rows = [{"file_name": row.pop("image"), **row} for row in table("", count)]
    (folder / "metadata.csv").write_text(as_csv(rows))


def write_csv(folder: Path, count: int = COUNT) -> Path:
    write_pictures(folder / "pictures", count)
    (folder / "list.csv").write_text(as_csv(table("pictures/", count)))
    return folder


def write_json_lines(folder: Path) -> None:
    write_pictures(folder / "images")
    (folder / "list.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table("")))


def stored(count: int = COUNT) -> object:
    import datasets

    images = [{"bytes": picture(i), "path": None} for i in range(count)]
    names = datasets.ClassLabel(names=list(COLOURS))
    features = datasets.Features({"image": datasets.Image(), "caption": datasets.Value("string"), "label": names})
    rows = {"image": images, "caption": [caption(i) for i in range(count)], "label": [i % 3 for i in range(count)]}
    return datasets.Dataset.from_dict(rows, features=features)


def write_parquet(folder: Path) -> None:
    folder.mkdir(parents=True)
    stored().to_parquet(folder / "pairs.parquet")  # type: ignore[attr-defined]


def write_saved(folder: Path) -> None:
    stored().save_to_disk(folder)  # type: ignore[attr-defined]


def write_tar(folder: Path) -> None:
    folder.mkdir(parents=True)
    with tarfile.open(folder / "00000.tar", "w") as tar:
        for i in range(COUNT):
            for kind, content in (("png", picture(i)), ("txt", f"{caption(i)}\n".encode()), ("cls", b"%d" % (i % 3))):
                member = tarfile.TarInfo(f"{i:02}.{kind}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))


FORMATS: dict[str, Callable[[Path], object]] = {
    "imagefolder": write_image_folder,
    "csv": write_csv,
    "json-lines": write_json_lines,
    "parquet": write_parquet,
    "save_to_disk": write_saved,
    "webdataset": write_tar,
}
