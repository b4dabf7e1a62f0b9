"""The errors a user may meet: one sentence that says what was wrong, where, and what would be right."""

import copyreg
import re
import sys
import traceback
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import SequenceMatcher
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""
NEAR = 0.6
"""Smallest similarity of a suggested name."""
MANY, NEAREST = 12, 3
"""Of more names than these, so many are listed."""
LISTED = ("method", "task", "dataset", "embedding", "table", "recipe")
"""Kinds of names that `benchsuite list` shows."""
IN_A_PLUGIN = " If it is in a file of yours, add --plugin FILE."
"""What may also be wrong with the name of a method."""


class BenchsuiteError(Exception):
    """Base of all expected failures. The command line prints the message and exits with `exit_code`.

    A message is one line, `more` the lines below it: a line break in a text that a message quotes is none of ours.
    """

    exit_code = 2

    def __init__(self, *message: object, more: Iterable[str] = ()) -> None:
        super().__init__(*message)
        self.more = tuple(more)

    @property
    def lines(self) -> Sequence[str]:
        return [super().__str__(), *self.more]

    def __str__(self) -> str:
        return "\n".join(self.lines)


class UsageError(BenchsuiteError):
    """The request names something that does not exist or is not possible. Nothing was started."""


class MadeError(UsageError):
    """Its message is made from what its class is given. It goes between processes with the message that it has."""

    def __reduce__(self) -> tuple[Any, ...]:
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


class UnknownError(MadeError):
    """A name that is not one of those known. It suggests the nearest, and lists all or, of many, the nearest three."""

    def __init__(self, what: str, name: str, known: Iterable[str], where: str = "", hint: str = "") -> None:
        names = sorted(known)
        many = len(names) > MANY
        shown = sorted(names, key=lambda other: -_alike(name, other))[:NEAREST] if many else names
        others = f" and {len(names) - len(shown)} others" if many else ""
        listed = ", ".join(shown) + others if names else "none"
        next_step = did_you_mean(name, names) or (
            f" `benchsuite list {what}s` shows all." if what in LISTED and names else ""
        )
        super().__init__(f'{where}{what} "{name}" does not exist (known: {listed}).{next_step}{hint}')


def require_known(what: str, name: str, known: Collection[str], where: str = "") -> None:
    """Refuse a name that is not one of those known."""
    if name not in known:
        raise UnknownError(what, name, known, where)


class SeveralError(MadeError):
    """Several errors of one request, found together."""

    def __init__(self, errors: Sequence[str]) -> None:
        super().__init__(errors[0], more=[f"  {error}" for error in errors[1:]])
        self.errors = errors


class RecordError(BenchsuiteError):
    """A stored record is not valid: unreadable, incomplete, or contradicts itself."""

    exit_code = 1


class RunError(BenchsuiteError):
    """A run started and did not finish. Other runs and stored records are unaffected."""

    exit_code = 3


class DivergedError(RunError):
    """A run's loss or weights became no numbers: the fault of its hyper-parameters, not of the code."""


class Interrupted(RunError):  # noqa: N818 - nothing went wrong
    """The training was asked to stop and has saved its checkpoint: the same command goes on from there.

    The exit code is the one that schedulers know as "try again" (EX_TEMPFAIL of sysexits.h).
    """

    exit_code = 75


def each(error: BenchsuiteError) -> Sequence[str]:
    """The error's message, or those of several."""
    return error.errors if isinstance(error, SeveralError) else [str(error)]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A suggestion of the nearest known names; empty if none is near."""
    close = nearest(name, sorted(known))
    return f" Did you mean {' or '.join(quote(n) for n in close)}?" if close else ""


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """The names most similar to `name`; none if none is near."""
    ratios = {other: _alike(name, other) for other in names}
    best = max(ratios.values(), default=0.0)
    return [other for other, ratio in ratios.items() if ratio >= max(NEAR, best - 0.02)]


def _alike(name: str, other: str) -> float:
    return SequenceMatcher(None, name.lower(), other.lower()).ratio()


def quote(name: object) -> str:
    """The name in double quotes, as messages show it."""
    return f'"{name}"'


def first_line(error: BaseException) -> str:
    """Type and beginning of another library's message."""
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {text[:300]}"


@contextmanager
def own_errors(plugin: str, *others: type[Exception]) -> Iterator[None]:
    """Whatever ends the import of other people's code, such as a sys.exit, is an error that names the plugin."""
    passed_on: tuple[type[BaseException], ...] = (KeyboardInterrupt, *others)
    try:
        yield
    except passed_on:
        raise
    except UsageError as error:
        raise UsageError(f"{plugin}: {error}") from error
    except BaseException as error:
        found = f"{type(error).__name__}: {error}{_line(error)}"
        raise UsageError(f"{plugin} failed to import: {found}.{_suggested(error)}") from error


def _line(error: BaseException) -> str:
    """The last line of other people's code that was reached; none where it cannot be read as Python."""
    ours = str(Path(__file__).parent)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(("<", ours))]
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""


def _suggested(error: BaseException) -> str:
    """The nearest name of what could not be imported, if its package is there."""
    if isinstance(error, ModuleNotFoundError) and error.name and "." in error.name:
        parent, _, name = error.name.rpartition(".")
        return did_you_mean(name, (one.name for one in iter_modules(getattr(sys.modules.get(parent), "__path__", ()))))
    if isinstance(error, ImportError) and (match := re.match(r"cannot import name '(\w+)'", str(error))):
        return did_you_mean(match[1], dir(sys.modules.get(error.name or "")))
    return ""
