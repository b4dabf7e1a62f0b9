"""New files from templates: a method, a dataset, a task, a recipe, a leaderboard.

A template is a folder of files below templates/. In them `<<word>>` stands for a word of the new thing, in their names
MODULE, NAME and PACKAGE do, and DOT for a dot at the start. What exists is never overwritten.
"""

import keyword
import re
import sys
from collections.abc import Iterator, Mapping
from importlib.machinery import PathFinder
from pathlib import Path

from benchsuite import __version__
from benchsuite.errors import UsageError
from benchsuite.files import write_whole

TEMPLATES = Path(__file__).with_name("templates")
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
LONGEST = 30
"""Characters of a name: lines of the new files stay within 88, as formatters have it."""
ENDING = ".in"


IMPORTED = {
    "method": ("Clock", "Loss", "Method", "PairBatch"),
    "task": ("Embedder", "PairDataset", "RankRule", "Ranks", "Scores", "Task"),
    "dataset": ("Manifest", "PairDataset", "Split"),
}
"""Classes that the templates import, by kind."""


def named(kind: str, name: str, taken: Mapping[str, object]) -> dict[str, str]:
    """What stands for what in templates, or an error that says what is wrong with the name.

    `taken` are names with their owners. `my-loss` is the module my_loss.
    """
    if not NAME.fullmatch(name) or len(name) > LONGEST:
        nearest = "-".join(re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()))[:LONGEST]
        hint = f' Did you mean "{nearest}"?' if NAME.fullmatch(nearest := nearest.strip("-")) else ""
        raise UsageError(
            f'{kind} name "{name}": write small letters, digits and single hyphens, a letter first, at most {LONGEST} '
            f"characters.{hint}"
        )
    if name in taken:
        raise UsageError(f'{kind} "{name}" exists already, in {taken[name]}. Choose another name, such as "{name}-2".')
    parts, module = name.split("-"), name.replace("-", "_")
    class_ = "".join(part[0].upper() + part[1:] for part in parts)
    if kind in (*IMPORTED, "package") and (word := next(filter(keyword.iskeyword, (module, class_)), "")):
        raise UsageError(f'{kind} name "{name}": "{word}" is a word of Python. Choose another name.')
    if class_ in IMPORTED.get(kind, ()):
        raise UsageError(f'{kind} name "{name}": the template imports {class_}. Choose another name.')
    return {
        "name": name,
        "module": module,
        "import": module,
        "class": class_,
        "title": " ".join(parts).capitalize(),
        "version": __version__,
    }


def require_free_module(module: str, folder: Path) -> None:
    """Refuse a name whose file would hide an installed module from the tests beside it."""
    own = {folder.resolve(), Path.cwd()}
    elsewhere = [entry for entry in sys.path if Path(entry).resolve() not in own]
    found = PathFinder.find_spec(module, elsewhere)
    if module in sys.stdlib_module_names or (found and found.origin):  # a folder without code has no origin
        raise UsageError(f"{module}.py would hide the installed module {module}. Choose another name.")


def files_of(template: str, words: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    """The files of a template: their paths relative to the new folder, and their texts."""
    root = TEMPLATES / template
    for file in sorted(root.rglob(f"*{ENDING}")):
        parts = [
            re.sub("MODULE|NAME|PACKAGE", lambda word: words[word[0].lower()], re.sub(r"^DOT", ".", part))
            for part in file.relative_to(root).parts
        ]
        text = re.sub(r"<<(\w+)>>", lambda word: words[word[1]], file.read_text("utf-8"))
        yield Path(*parts).with_suffix(""), text


def write_new(folder: Path, files: Mapping[Path, str]) -> list[Path]:
    """Write all files below a folder, or none."""
    paths = [folder / path for path in files]
    if there := [path for path in paths if path.exists() or path.is_symlink()]:
        raise UsageError(f"{there[0]} exists already, and nothing is overwritten. Choose another name or folder.")
    written: list[Path] = []
    try:
        for path, text in zip(paths, files.values(), strict=True):
            write_whole(path, text.encode(), overwrite=False)
            written.append(path)
    except BaseException:
        for path in written:
            path.unlink()
        raise
    return written
