"""Options that several commands share."""

from collections.abc import Container, Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from benchsuite.cli.shared.terminal import keep_stdout_for_json
from benchsuite.errors import UsageError
from benchsuite.folders import use_folders
from benchsuite.registry import datasets, load_plugin, methods

Plugins = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin", help="Python file that registers methods, tasks or datasets. May be repeated.", metavar="FILE"
    ),
]
AsJson = Annotated[
    bool,
    typer.Option(
        "--json", callback=keep_stdout_for_json, is_eager=True, help="Print JSON; anything else goes to stderr."
    ),
]
Results = Annotated[Path, typer.Option("--results", help="Folder of run records.", metavar="FOLDER")]
Folders = Annotated[
    list[str] | None,
    typer.Option(
        "--data",
        help="Folder of a dataset's files, or an option as NAME.OPTION=VALUE. May be repeated.",
        metavar="NAME=FOLDER",
    ),
]

Tables = Annotated[
    list[Path] | None,
    typer.Option(
        "--tables", help="Folder with papers/<paper>/<table>.toml and recipes/. May be repeated.", metavar="FOLDER"
    ),
]
Regimes = Annotated[
    Literal["tuned", "printed"] | None,
    typer.Option("--regime", help="The table as tuned, or as printed (default: tuned, where it was run)."),
]
AskedRegimes = Annotated[
    Literal["tuned", "printed", "both"] | None,
    typer.Option(
        "--regime",
        help="printed: the paper's hyper-parameters, the learning rate alone searched. tuned: all searched. both "
        "(default of tables, where the recipe says how to search; of `tune METHOD` it is tuned).",
    ),
]
Backbone = Annotated[str | None, typer.Option(help="Backbone (default: the recipe's first).")]
Replicates = Annotated[
    str | None,
    typer.Option(
        "--replicates",
        "--seeds",
        help="How many replicates (3), or which (4,7); default: the recipe's number. Each has data, initial weights, "
        "batches and a search of its own.",
    ),
]
TrialCount = Annotated[
    int | None,
    typer.Option(
        "--trials",
        min=0,
        help="Trials of each search (default: the recipe's number; as printed never more). 0: none, rows as printed.",
    ),
]

RESULTS = Path("runs")
REPORTS = Path("reports")


def load_own(tables: Sequence[Path] | None, plugins: Sequence[Path] | None = None) -> list[str]:
    """Use folders of tables and recipes, and load plugin files; returns the methods that the files added."""
    use_folders(tables or ())
    return load_plugins(plugins)


def load_plugins(plugins: Sequence[Path] | None) -> list[str]:
    """Load plugin files; returns the methods they added."""
    if not plugins:
        return []  # without reading what methods there are
    before = set(methods)
    for plugin in plugins:
        load_plugin(plugin)
    return [name for name in methods if name not in before]


def parse_folders(texts: Sequence[str] | None) -> dict[str, str]:
    """`cifar10=FOLDER` as {"cifar10": FOLDER}; an existing folder becomes absolute; anything else may be a hub name.

    `pairs.caption=title` sets an option of a dataset: {"pairs.caption": "title"}. `cc3m=hub:` is the dataset's own
    name on the hub, with its commit.
    """
    folders: dict[str, str] = {}
    for text in texts or ():
        name, equals, folder = (part.strip() for part in text.partition("="))
        if not (name and equals and folder):
            raise UsageError(
                f'--data "{text}": write NAME=FOLDER, for example --data cifar10=data/cifar10, or NAME.OPTION=VALUE, '
                "for example --data pairs.caption=title."
            )
        if name in folders:
            raise UsageError(f"--data {name} is given twice: {folders[name]} and {folder}.")
        if folder == "hub:" and "." not in name:
            folder += _pinned(name)
        path = Path(folder).expanduser()
        folders[name] = str(path.resolve()) if "." not in name and path.is_dir() else folder
    return folders


def _pinned(name: str) -> str:
    """The source of a dataset that names one; refused for any other."""
    from benchsuite.data.readers.hub import pinned

    if source := pinned(name):
        return source
    known = ", ".join(each for each, card in datasets.cards().items() if "hub" in card.about)
    raise UsageError(f"--data {name}: write hub:OWNER/NAME@COMMIT; hub: without a name is for {known}.")


def require_reported(seeds: Sequence[int]) -> None:
    """Refuse seeds of tuning trials: what was used to choose is never reported."""
    from benchsuite.records.schema import FIRST_SEED

    if seeds and max(seeds) >= FIRST_SEED:
        raise UsageError(f"seed {max(seeds)}: seeds from {FIRST_SEED} on are those of tuning trials. Take lower ones.")


def parse_seeds(text: str | None) -> list[int] | None:
    """`3` is seeds 0, 1 and 2; `4,7` is seeds 4 and 7."""
    if text is None:
        return None
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = [-1]
    seeds = list(range(numbers[0])) if "," not in text else numbers
    if not seeds or min(seeds) < 0 or len(set(seeds)) < len(seeds):
        raise UsageError(f'--replicates "{text}": give how many (3), or different ones with commas (4,7).')
    require_reported(seeds)
    return seeds


def parse_names(texts: Sequence[str] | None, whole: Container[str] = ()) -> list[str]:
    """Names from repeated options or separated by commas; a name in `whole` may contain commas itself."""
    parts = (part for text in texts or () for part in ([text] if text in whole else text.split(",")))
    return [name.strip() for name in parts if name.strip()]


def parse_settings(texts: Sequence[str] | None) -> dict[str, str]:
    """`tau=0.05` as {"tau": "0.05"}; the types of a method or a task turn the texts into values."""
    given: dict[str, str] = {}
    for text in texts or ():
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise UsageError(f'--set "{text}": write name=value, for example --set tau=0.05.')
        if name in given:
            raise UsageError(f"--set {name} is given twice.")
        given[name] = value
    return given


def require_results(folder: Path, advice: str) -> None:
    """Refuse what is no results folder; an empty one has no results yet."""
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        raise UsageError(f"results folder {folder} {what}. {advice}")


def methods_asked_for(subjects: Sequence[str], everything: bool = False) -> list[str]:
    """Names of the methods that names and files stand for, each once."""
    names: list[str] = []
    for subject in subjects:
        if not is_file(subject):
            names.append(methods.card(subject).name)
            continue
        load_plugin(file := Path(subject))
        own = [name for name, card in methods.cards().items() if Path(card.file).resolve() == file.resolve()]
        if not own:
            raise UsageError(f"{file} registers no method; it needs a class under @register_method(...).")
        names += own
    if everything:
        names += methods
    if not names:
        raise UsageError("which method? Give a name, a file that registers one, or --all.")
    return list(dict.fromkeys(names))


def is_file(subject: str) -> bool:
    """Whether a file is meant, not a method's name."""
    return subject not in methods and (subject.endswith(".py") or Path(subject).exists())
