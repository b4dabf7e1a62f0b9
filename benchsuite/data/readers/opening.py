"""Open a folder, or a data set of the hub, with the `datasets` library.

Code in a data set is never run: from release 4 on, the library refuses data sets with code. It keeps a copy in Arrow:
of paths where pictures are files, of their bytes where they are in parquet or tar files. What `save_to_disk` wrote is
read in place.
"""

import re
from collections.abc import Mapping
from glob import escape
from pathlib import Path
from typing import Any

from benchsuite.data.readers.files import files_under
from benchsuite.data.readers.hub import fetching, not_fetched, on_hub, sizes_to_fetch
from benchsuite.errors import UsageError
from benchsuite.grouping import by_key

FEW = 3
"""Files that a command names one by one."""
TABLES = (".csv", ".tsv", ".jsonl", ".json", ".ndjson", ".parquet")
IMAGES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff")
METADATA = ("metadata.csv", "metadata.jsonl", "metadata.parquet")
LAYOUT = "parquet, CSV, JSON lines, tar files, images in folders, or what save_to_disk wrote"


def open_splits(dataset: str, source: str, config: str = "", copy: Path | None = None) -> Mapping[str, Any]:
    """The splits by the names that the source has for them; a single one without a name is "train".

    Of a folder's tables and tar files the library makes a copy in the folder `copy`, which may go when all is read.
    """
    import datasets

    folder = Path(source).expanduser()
    datasets.disable_progress_bars()
    try:
        name, revision = on_hub(source, plain=True) or ("", None)
        files = _not_copied(name, config, revision) if name and not fetching.get() else []
        lacking = sizes_to_fetch(name, revision, files) if files else []
        if not lacking:
            stored = (
                datasets.load_dataset(name, config or None, revision=revision)
                if name
                else _from_folder(folder, config, copy)
            )
    except Exception as error:
        what = "is neither a folder nor a dataset that can be read from the hub" if name else "cannot be read"
        bare = folder.is_dir() and not any(folder.iterdir())
        holds = f" It is empty, and must hold {LAYOUT}." if bare else ""
        raise UsageError(f"{dataset}: {source} {what} ({_reason(error)}).{holds}") from error
    if lacking:
        raise not_fetched(dataset, name, revision, lacking, files if len(files) <= FEW else ())
    splits = dict(stored) if isinstance(stored, dict) else {"train": stored}
    if empty := [name for name, rows in splits.items() if not len(rows)]:
        raise UsageError(f"{dataset}: {source}, split {empty[0]}: there are no rows.")
    return splits


def _not_copied(name: str, config: str, revision: str | None) -> list[str]:
    """The hub's files that the library would read; none where it has made its copy of them."""
    import datasets

    builder = datasets.load_dataset_builder(name, config or None, revision=revision)
    urls = [url for files in (builder.config.data_files or {}).values() for url in files]
    copied = Path(builder.cache_dir).exists()
    return [] if copied else [escape(url.partition("@")[2].partition("/")[2]) for url in urls]


def _from_folder(folder: Path, config: str, copy: Path | None) -> Any:
    import datasets

    if any((folder / name).is_file() for name in ("dataset_dict.json", "state.json")):
        return datasets.load_from_disk(str(folder))
    files = _tables_beside_images(folder)
    # pandas would take the texts "None" and "NA" for missing ones
    own = {"keep_default_na": False} if files and _kind(next(iter(files.values()))[0]) in (".csv", ".tsv") else {}
    return datasets.load_dataset(str(folder), config or None, data_files=files, cache_dir=str(copy), **own)


def _tables_beside_images(folder: Path) -> dict[str, list[str]] | None:
    """The tables by split where loose images lie beside them: of the two kinds the library would read the commoner.

    Where a metadata file or the data set's card says what belongs together, the library goes by that.
    """
    card = folder / "README.md"
    if card.is_file() and "data_files:" in card.read_text("utf-8", "replace"):
        return None
    names = list(files_under(folder))
    if any(Path(name).name in METADATA for name in names) or not any(_kind(name) in IMAGES for name in names):
        return None
    tables = [name for name in names if _kind(name) in TABLES]
    if len(kinds := sorted({_kind(name) for name in tables})) > 1:
        raise UsageError(f"both {kinds[0]} and {kinds[1]} files lie beside the images; keep tables of one kind")
    return by_key((_split_of(name), str(folder / name)) for name in tables) or None


def _kind(name: str) -> str:
    return Path(name).suffix.lower()


def _split_of(name: str) -> str:
    """The split that a file's name or folders tell, by the library's own words for each; train if they tell none."""
    from datasets.data_files import SPLIT_KEYWORDS

    words = set(re.split(r"[-._ 0-9/]+", name.lower()))
    return next((str(split) for split, keywords in SPLIT_KEYWORDS.items() if words & set(keywords)), "train")


def _reason(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
