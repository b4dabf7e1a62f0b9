"""Columns of a table by what they hold: pictures, texts and classes, named by an option or guessed from their names."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.readers.files import watching
from benchsuite.data.readers.images import in_threads, open_image, with_image
from benchsuite.errors import SeveralError, UsageError, did_you_mean
from benchsuite.files import open_regular, reason_of

IMAGE = (
    "image", "img", "png", "jpg", "jpeg", "webp", "file_name", "filename", "filepath", "image_path", "file", "path",
)  # fmt: skip
CAPTION = ("caption", "captions", "text", "txt")
LABEL = ("label", "class", "cls")
"""Names from which a column is guessed."""
REQUIRED = {"image": "pictures", "caption": "captions"}
"""What a column must be there for, by option."""
ROWS = 100
"""Pictures whose bytes are in memory at a time."""
SHOWN = 5
"""Unreadable pictures that an error names."""
Asked = Mapping[str, tuple[Sequence[str], Sequence[str]]]
"""Given names of columns and names to guess from, by option."""


def columns_for(asked: Asked, columns: Sequence[str], where: str) -> dict[str, Sequence[str]]:
    """The columns of each option: those that it names, or the one whose name tells. All that are wrong are refused."""
    found: dict[str, Sequence[str]] = {}
    wrong, listed = [], ", ".join(columns)
    for option, (given, guesses) in asked.items():
        remedy = f"Name the column: --data {where.partition(':')[0]}.{option}=COLUMN; there are {listed}."
        found[option] = given or [name for name in columns if name.lower() in guesses]
        for name in (name for name in given if name not in columns):
            wrong.append(f'{where}: no column "{name}".{did_you_mean(name, columns)} {remedy}')
        if not given and len(found[option]) > 1:
            wrong.append(f"{where}: {' or '.join(found[option])}? {remedy}")
        if not found[option] and option in REQUIRED:
            wrong.append(f"{where}: which column has the {REQUIRED[option]}? {remedy}")
    if wrong:
        raise SeveralError(wrong)
    return found


@dataclass(frozen=True)
class Picture:
    """A row of a column of pictures: bytes or a path, or both."""

    content: bytes | None
    path: str
    column: "Pictures"
    row: int

    @property
    def where(self) -> str:
        return f"{self.column.name}, row {self.row}" + (f" ({self.path})" if self.path else "")

    @property
    def file(self) -> Path | None:
        """The picture's file, if its bytes are in no column."""
        if self.content is None and not self.path:
            raise UsageError(f'{self.where}: column "{self.column.column}" holds no picture.')
        return self.column.file(self.path) if self.content is None else None

    def read(self) -> bytes:
        file, root = self.file, self.column.root
        if self.content is not None or file is None:
            return self.content or b""
        try:
            with open_regular(file) as stream:
                return stream.read()
        except FileNotFoundError as error:
            inside = root and file.is_relative_to(root)
            looked = f"; looked in {root}/ and {root}/images/" if inside else ""
            raise UsageError(f"{self.column.name}, row {self.row}: picture {self.path} not found{looked}.") from error
        except OSError as error:
            raise UsageError(f"{self.where}: {file} cannot be read: {reason_of(error)}.") from error

    def digest(self) -> bytes | UsageError:
        """SHA-256 of the picture's bytes, or why it cannot be decoded to its end."""
        try:
            data = self.read()
            with_image(lambda: open_image(data), self.where, lambda image: image.load())
        except UsageError as error:
            return error
        return hashlib.sha256(data).digest()


@dataclass(frozen=True)
class Pictures:
    """A column of pictures that are not decoded: bytes, or paths that are absolute or relative to a folder."""

    rows: Any
    column: str
    root: Path | None
    name: str
    """Of the split and its source, for errors."""

    @classmethod
    def of(cls, rows: Any, column: str, root: Path | None, name: str) -> "Pictures":
        """A column of the library's images, of bytes or of paths."""
        import datasets

        alone, stored = rows.select_columns([column]), datasets.Image(decode=False)
        if not isinstance(alone.features[column], datasets.Image):
            value = alone[0][column]
            if not isinstance(value, str | bytes | dict):
                raise UsageError(f"{name}: column {column} holds {type(value).__name__}, not pictures or their files.")
            if isinstance(value, str) and "://" in value:
                raise UsageError(f"{name}: column {column} holds addresses ({value}); download the pictures first.")
        return cls(alone.cast_column(column, stored), column, root, name)

    def __len__(self) -> int:
        return len(self.rows)

    def at(self, rows: Sequence[int]) -> list[Picture]:
        """The pictures of a few rows: all their bytes are in memory."""
        values = (value or {} for value in self.rows[rows][self.column])
        return [Picture(v.get("bytes"), v.get("path") or "", self, row) for v, row in zip(values, rows, strict=True)]

    def blocks(self) -> Iterator[list[Picture]]:
        for start in range(0, len(self), ROWS):
            yield self.at(range(start, min(start + ROWS, len(self))))

    def file(self, path: str) -> Path:
        """The file at a path of the column: relative to the folder, or to `images` in it."""
        if self.root is None:
            return Path(path)
        inner = self.root / "images" / path
        return inner if not (self.root / path).is_file() and inner.is_file() else self.root / path

    def outside(self) -> list[Path]:
        """Files in the column that are not under the folder. The column is searched without making texts of all."""
        import pyarrow.compute as pc

        paths = pc.struct_field(self.rows.data.column(self.column), "path")
        suspect = paths.filter(pc.fill_null(pc.match_substring_regex(paths, r"^/|\.\."), False)).to_pylist()
        files = (self.file(path) for path in suspect if Path(path).is_absolute() or ".." in Path(path).parts)
        return [file for file in files if file.is_file()]


def digests_of(splits: Mapping[str, Pictures], where: str, size: int = 0) -> dict[str, NDArray[np.uint8]]:
    """SHA-256 of each picture by split, [N, 32]; all that cannot be decoded are refused together.

    `size`: bytes of the files, for those who watch.
    """
    found = {split: np.empty((len(own), 32), np.uint8) for split, own in splits.items()}
    total, done, wrong, watch = sum(map(len, splits.values())), 0, [], watching.get()
    for split, own in splits.items():
        for block in own.blocks():
            for picture, digest in zip(block, in_threads(Picture.digest, block), strict=True):
                if isinstance(digest, UsageError):
                    wrong.append(str(digest))
                else:
                    found[split][picture.row] = np.frombuffer(digest, np.uint8)
            done += len(block)
            watch(size * done // total, size)
    if len(wrong) > SHOWN:
        wrong[SHOWN:] = [f"{where}: {len(wrong)} of {total} pictures cannot be read."]
    if wrong:
        raise SeveralError(wrong)
    return found


def texts_at(rows: Any, columns: Sequence[str], positions: Sequence[int], name: str) -> dict[int, list[str]]:
    """All texts of some rows, from columns of texts or of lists of texts, without space around them."""
    found: dict[int, list[str]] = {}
    if not columns:
        return found
    cells = rows.select_columns(list(columns))[positions]
    for number, *values in zip(positions, *(cells[column] for column in columns), strict=True):
        own: list[str] = []
        for column, value in zip(columns, values, strict=True):
            several = value if isinstance(value, list) else [] if value is None else [value]
            if wrong := [type(text).__name__ for text in several if not isinstance(text, str)]:
                raise UsageError(f"{name}, row {number}: column {column} holds {wrong[0]}, not text.")
            own += [text.strip() for text in several if text.strip()]
        if not own:
            raise UsageError(
                f"{name}, row {number}: {' and '.join(columns)} is empty. Remove the row or name another column."
            )
        found[number] = own
    return found


@dataclass(frozen=True)
class Classes:
    """The names of a set of classes, and each row's class by split; a split whose rows have none is left out."""

    names: tuple[str, ...]
    ids: Mapping[str, NDArray[np.int64]]


def classes_of(splits: Mapping[str, Any], column: str, names: Sequence[str], where: str) -> Classes:
    """Classes of a column: named by the option, by the library's ClassLabel, or by the values in sorted order."""
    import datasets

    features = {split: rows.features[column] for split, rows in splits.items()}
    (first, feature), *others = features.items()
    if other := next((split for split, own in others if own != feature), None):
        raise UsageError(f"{where}: column {column} is of other classes in split {other} than in split {first}.")
    labelled = isinstance(feature, datasets.ClassLabel)
    values = {split: list(rows[column]) for split, rows in splits.items()}
    missing = (None, -1) if labelled else (None, "")
    values = {s: [v.strip() if isinstance(v, str) else v for v in own] for s, own in values.items()}
    present = {split: own for split, own in values.items() if any(value not in missing for value in own)}
    for split, own in present.items():
        if wrong := [i for i, v in enumerate(own) if v in missing or not isinstance(v, str | int)]:
            raise UsageError(
                f"{where}, split {split}, row {wrong[0]}: column {column} holds no class ({own[wrong[0]]!r})."
            )
    given = tuple(names) or (tuple(feature.names) if labelled else ())
    unique = sorted({value for own in present.values() for value in own})
    if given and all(isinstance(value, int) for value in unique):
        if outside := [value for value in unique if not 0 <= value < len(given)]:
            raise UsageError(f"{where}: column {column} has class {outside[0]}, but there are {len(given)} names.")
        number: Mapping[Any, int] = {value: int(value) for value in unique}
    else:
        given = given or tuple(str(value) for value in unique)
        number = {value: given.index(str(value)) for value in unique if str(value) in given}
        if unnamed := [value for value in unique if value not in number]:
            raise UsageError(
                f'{where}: column {column} has class "{unnamed[0]}", which the option names does not list.'
            )
    return Classes(given, {s: np.array([number[v] for v in own], np.int64) for s, own in present.items()})
