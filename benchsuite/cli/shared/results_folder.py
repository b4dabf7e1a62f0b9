"""A results folder as the commands read it that show results: its records, its tables, and what was skipped."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from benchsuite.errors import BenchsuiteError, RecordError
from benchsuite.records.contents import Contents
from benchsuite.records.names import SECOND
from benchsuite.records.store import Store

if TYPE_CHECKING:
    from benchsuite.analysis.table_view import TableView
    from benchsuite.report.leaderboard import Leaderboard


@dataclass(frozen=True)
class ResultsFolder:
    """What was found; commands show it and then call `require_whole`."""

    path: Path
    contents: Contents
    views: "Sequence[TableView]"
    left_out: Sequence[BenchsuiteError]

    @classmethod
    def read(cls, path: Path, contents: Contents | None = None) -> Self:
        """The folder, read now unless its contents are given."""
        from benchsuite.analysis.building import build_views

        contents = contents or Store(path).read()
        return cls(path, contents, *build_views(contents))

    def leaderboard(self, *only: "TableView") -> "Leaderboard":
        """What the site shows of it, or of some of its tables."""
        from benchsuite.report.leaderboard import Leaderboard

        second = self.second.views if self.second else ()
        return Leaderboard(self.contents, only or self.views, [str(error) for error in self._skipped], second)

    @cached_property
    def second(self) -> "ResultsFolder | None":
        """The second laboratory's, if there is one."""
        return ResultsFolder.read(self.path / SECOND) if (self.path / SECOND).is_dir() else None

    @property
    def _skipped(self) -> list[BenchsuiteError]:
        return [*self.left_out, *(self.second.left_out if self.second else ())]

    def require_whole(self) -> None:
        """End with exit code 1 if files were skipped."""
        if self._skipped:
            lines = [line for error in self._skipped for line in error.lines]
            raise RecordError("skipped invalid files:", more=[f"  {line}" for line in lines])
