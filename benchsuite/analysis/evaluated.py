"""Models that were evaluated as they were given, beside a board: never ranked, paired or used in claims.

They share a protocol with the board's rows (task, version, options, content of the data), but no setup: they were
trained elsewhere, on other data, and may have seen the test data.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from benchsuite.analysis.boards import Board
from benchsuite.records.evaluations import Evaluation, Model
from benchsuite.setup import Data, Protocol


@dataclass(frozen=True)
class GivenRow:
    """A model below a board's rows."""

    model: Model
    values: Mapping[str, float]
    """By protocol of the board, of those that it was evaluated on."""


def given_rows(board: Board, evaluations: Iterable[Evaluation]) -> list[GivenRow]:
    """The models with a number in a column of the board, by name; trained towers that are on the board are left out."""
    own = {record.run_id for row in board.rows for record in row.records.values()}
    values: dict[tuple[str, str, int | None], tuple[Model, dict[str, float]]] = {}
    for evaluation in evaluations:
        if evaluation.model.run in own:
            continue
        model = evaluation.model
        _, known = values.setdefault((model.name, model.weights, model.size), (model, {}))
        known |= _values(board, evaluation)
    rows = [GivenRow(model, found) for model, found in values.values() if found]
    return sorted(rows, key=lambda row: (row.model.name, row.model.weights))


def _values(board: Board, evaluation: Evaluation) -> dict[str, float]:
    found = {}
    for task in board.tasks:
        wanted = _identity(board.setup.protocols[task.protocol], board.setup.data)
        for name, protocol in evaluation.protocols.items():
            result = evaluation.results[name]
            numbers = {**result.metrics, **result.measures}
            if task.metric in numbers and _identity(protocol, evaluation.data) == wanted:
                found[task.protocol] = numbers[task.metric]
    return found


def _identity(protocol: Protocol, data: Data) -> tuple[object, ...]:
    """What two evaluations must share for their numbers to be of one column."""
    read = protocol.data or data
    options = sorted(map(repr, protocol.options.items()))
    return protocol.task, protocol.version, options, read.name, read.version, read.digest
