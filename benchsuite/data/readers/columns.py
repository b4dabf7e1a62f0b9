"""Columns of a table by what they hold: pictures, texts and classes, named by an option or guessed from their names."""

import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.readers.contents import watching
from benchsuite.data.readers.images import Fit, LazyArray, LazyImages, in_threads
from benchsuite.errors import SeveralError, UsageError, did_you_mean

IMAGE = (
    "image",
    "img",
    "png",
    "jpg",
    "jpeg",
    "webp",
    "file_name",
    "filename",
    "filepath",
    "image_path",
    "file",
    "path",
)
CAPTION = ("caption", "captions", "text", "txt")
LABEL = ("label", "class", "cls")
"""Names from which a column is guessed."""
REQUIRED = {"image": "pictures", "caption": "captions"}
"""What a column must be there for, by option."""
ROWS = 1000
"""Rows that are read at a time."""
SHOWN = 5
"""Unreadable pictures that an error names."""


def column_for(option: str, given: str, guesses: Sequence[str], columns: Sequence[str], where: str) -> str:
    """The column that the option names, or the one column with a name that tells; "" if there is none."""
    if given and given not in columns:
        listed = ", ".join(columns)
        raise UsageError(
            f'{where}: no column "{given}" for {option} (there are {listed}).{did_you_mean(given, columns)}'
        )
    found = [given] if given else [name for name in columns if name.lower() in guesses]
    if len(found) > 1:
        raise UsageError(f"{where}: {' or '.join(found)}? {remedy(option, columns)}")
    return found[0] if found else ""


Asked = Mapping[str, tuple[Sequence[str], Sequence[str]]]
"""Given names of columns and names to guess from, by option."""


def columns_for(asked: Asked, columns: Sequence[str], where: str) -> dict[str, list[str]]:
    """The columns of each option; all that are wrong or missing are refused together."""
    found: dict[str, list[str]] = {option: [] for option in asked}
    wrong = []
    for option, (given, guesses) in asked.items():
        for name in given or ("",):
            try:
                column = column_for(option, name, () if given else guesses, columns, where)
                if not column and option in REQUIRED:
                    raise UsageError(f"{where}: which column has the {REQUIRED[option]}? {remedy(option, columns)}")
            except UsageError as error:
                wrong.append(str(error))
            else:
                found[option] += [column] if column else []
    if wrong:
        raise SeveralError(wrong)
    return found


def remedy(option: str, columns: Sequence[str]) -> str:
    """How to name a column."""
    return f"Name the column by the option {option}; there are {', '.join(columns)}."


@dataclass(frozen=True)
class Pictures:
    """A column of pictures: bytes, or paths that are absolute or relative to a folder."""

    rows: Any
    column: str
    root: Path | None
    name: str
    """Of the split and its source, for errors."""

    def __len__(self) -> int:
        return len(self.rows)

    def where(self, i: int) -> str:
        """Names row i, with its file if it has one."""
        value = self.rows[i][self.column]
        path = value.get("path") if isinstance(value, dict) else value if isinstance(value, str) else ""
        return f"{self.name}, row {i}" + (f" ({path})" if path else "")

    def read(self, i: int) -> bytes:
        """The bytes of the picture's file."""
        value = self.rows[i][self.column]
        data = value.get("bytes") if isinstance(value, dict) else value
        if isinstance(data, bytes):
            return data
        path = value.get("path") if isinstance(value, dict) else value
        if not isinstance(path, str) or not path:
            raise UsageError(f'{self.where(i)}: column "{self.column}" holds no picture.')
        try:
            return self.file(path).read_bytes()
        except OSError as error:
            if self.file(path).exists():
                raise UsageError(f"{self.name}, row {i}: picture {self.file(path)} cannot be read.") from error
            inside = self.root and not Path(path).is_absolute()
            looked = f"; looked in {self.root}/ and {self.root}/images/" if inside else ""
            raise UsageError(f"{self.name}, row {i}: picture {path} not found{looked}.") from error

    def file(self, path: str) -> Path:
        """The file at a path of the column: relative to the folder, or to `images` in it."""
        if self.root is None:
            return Path(path)
        inner = self.root / "images" / path
        return inner if not (self.root / path).is_file() and inner.is_file() else self.root / path

    def outside(self) -> list[str]:
        """Paths in the column that lead out of the folder. The column is searched without making texts of all."""
        if not isinstance(self.rows[0][self.column], str):
            return []
        import pyarrow.compute as pc

        stored = self.rows.data.column(self.column)
        suspect = stored.filter(pc.fill_null(pc.match_substring_regex(stored, r"^/|\.\."), False)).to_pylist()
        return [path for path in suspect if Path(path).is_absolute() or ".." in Path(path).parts]

    def digest(self, i: int) -> bytes | UsageError:
        """SHA-256 of a picture's bytes, or why it cannot be decoded to its end."""
        from PIL import Image

        try:
            data = self.read(i)
            with Image.open(io.BytesIO(data)) as image:
                image.load()
        except UsageError as error:
            return error
        except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
            return UsageError(f"{self.where(i)}: not an image that can be decoded ({error}).")
        return hashlib.sha256(data).digest()

    def array(self, positions: NDArray[np.int64], size: int, fit: Fit) -> LazyArray:
        """The pictures at these rows, decoded when asked for."""
        from PIL import Image

        def open_(i: int) -> Any:
            return Image.open(io.BytesIO(self.read(int(positions[i]))))

        return LazyImages(len(positions), size, open_, lambda i: self.where(int(positions[i])), fit)


def pictures_of(rows: Any, column: str, root: Path | None, name: str) -> Pictures:
    """A column as pictures that are not decoded."""
    import datasets

    alone = rows.select_columns([column])
    if isinstance(alone.features[column], datasets.Image):
        alone = alone.cast_column(column, datasets.Image(decode=False))
    value = alone[0][column]
    if not isinstance(value, str | bytes | dict):
        raise UsageError(f"{name}: column {column} holds {type(value).__name__}, not pictures or their files.")
    if isinstance(value, str) and "://" in value:
        raise UsageError(f"{name}: column {column} holds addresses ({value}); download the pictures first.")
    return Pictures(alone, column, root, name)


def digests_of(splits: Mapping[str, Pictures], where: str, size: int = 0) -> dict[str, NDArray[np.uint8]]:
    """SHA-256 of each picture by split, [N, 32]; all that cannot be decoded are refused together.

    `size`: bytes of the files, for those who watch.
    """
    found = {split: np.empty((len(own), 32), np.uint8) for split, own in splits.items()}
    total, done, wrong, watch = sum(map(len, splits.values())), 0, [], watching.get()
    for split, own in splits.items():
        for start in range(0, len(own), ROWS):
            digests = in_threads(lambda i, own=own, start=start: own.digest(start + i), min(ROWS, len(own) - start))  # type: ignore[misc]
            for i, digest in enumerate(digests, start):
                if isinstance(digest, UsageError):
                    wrong.append(str(digest))
                else:
                    found[split][i] = np.frombuffer(digest, np.uint8)
            done += len(digests)
            watch(size * done // total, size)
    if len(wrong) == 1:
        raise UsageError(wrong[0])
    if wrong:
        further = [f"and {len(wrong) - SHOWN} more."] if len(wrong) > SHOWN else []
        lines = [f"  {line}" for line in [*wrong[:SHOWN], *further]]
        raise UsageError(f"{where}: {len(wrong)} of {total} pictures cannot be read:", more=lines)
    return found


def texts_of(rows: Any, columns: Sequence[str], name: str) -> Iterator[list[str]]:
    """All texts of each row, from columns of texts or of lists of texts, without space around them."""
    number = 0
    for batch in rows.select_columns(list(columns)).iter(ROWS):
        for values in zip(*(batch[column] for column in columns), strict=True):
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
            yield own
            number += 1


@dataclass(frozen=True)
class Classes:
    """The names of a set of classes, and each row's class by split; a split whose rows have none is left out."""

    names: tuple[str, ...]
    ids: Mapping[str, NDArray[np.int64]]


def classes_of(splits: Mapping[str, Any], column: str, names: Sequence[str], where: str) -> Classes:
    """Classes of a column: named by the option, by the library's ClassLabel, or by the values in sorted order."""
    import datasets

    feature = next(iter(splits.values())).features[column]
    labelled = isinstance(feature, datasets.ClassLabel)
    values = {split: list(rows[column]) for split, rows in splits.items()}
    missing = (None, -1) if labelled else (None,)
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
