"""Tuning trials: one parquet file a recipe, `trials/<recipe>.parquet`, with all that it takes to check and plot them.

A trial is a run at drawn hyper-parameters, judged on the validation split under a tuning seed. Its number decides what
is drawn and its seed, so a method's first n trials are the same however many follow.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.parquet as pq
from annotated_types import Ge, Lt
from pydantic import ValidationError

from benchsuite.canonical import alike, digest
from benchsuite.errors import RecordError, UsageError
from benchsuite.fields import first_problem
from benchsuite.files import MEGABYTE, lock_of, locked, read_stored, reason_of, write_whole
from benchsuite.grouping import by_key
from benchsuite.parts import Part
from benchsuite.records.json_text import parse_text
from benchsuite.records.names import LARGEST_TRIALS
from benchsuite.records.names import TRIALS as TRIALS
from benchsuite.records.requests import Regime
from benchsuite.records.schema import SEEDS_EACH, MethodPart, wrong_costs, wrong_environment
from benchsuite.setup import Setup

FORMAT = 2
UNPACKED = 32 * MEGABYTE
"""Bytes of all its columns."""
ROWS = 100_000
PACKED = 19
"""Zstandard's level: three quarters of the room that its default takes."""
REPEATED = ("setup_id", "label", "regime", "error", "fixed", "environment")
"""Columns that have few values; a list of the values of others would be stored beside them for nothing."""
BATCH = 16
"""Rows unpacked at a time."""
COUNTS = ("trials", "printed_trials", "longer")
"""Of a rule: what decides no draw and no score."""
Subject = tuple[str, str, int, str, float, str, int, str]
"""What was searched: setup, method, its version, what was fixed, as JSON, length, regime, replicate, and the digest of
the data, which the setup's identity leaves out where each replicate has its own."""


def subject_of(
    setup_id: str,
    method: str,
    version: int,
    fixed: Mapping[str, Any],
    longer: float,
    regime: str,
    replicate: int,
    data: str | None,
) -> Subject:
    """The search of a method under a setup in a replicate, on these data."""
    return setup_id, method, version, json.dumps(fixed, sort_keys=True), longer, regime, replicate, data or ""


class Trial(Part):
    """One trial of one method."""

    run_id: str
    setup_id: str
    """Of the recipe's setup with its tuning protocols."""
    label: str
    """Backbone, and the variants if any."""
    method: MethodPart
    """With the hyper-parameters and the learning rate that were drawn."""
    fixed: dict[str, Any] = {}
    """Hyper-parameters that were given and not drawn, at which the method was tuned."""
    regime: Regime
    """As printed, the learning rate alone was drawn."""
    replicate: Annotated[int, Ge(0)]
    number: Annotated[int, Ge(0), Lt(SEEDS_EACH)]
    seed: int
    score: float | None
    """The value of the rule's measure; none if the run failed."""
    metrics: dict[str, float] = {}
    """All that was measured, by "protocol.metric"."""
    error: str = ""
    """Why it failed: such a trial counts, and is never chosen."""
    cost: dict[str, Any] = {}
    digests: dict[str, str] = {}
    environment: dict[str, Any] = {}
    created: str = ""

    @property
    def subject(self) -> Subject:
        method, data = self.method, self.digests.get("data")
        return subject_of(
            self.setup_id, method.name, method.version, self.fixed, method.longer, self.regime, self.replicate, data
        )


class TrialsFile(Part):
    """What a file holds."""

    recipe: str
    rule: dict[str, Any]
    """The recipe's tuning section, as it was."""
    setups: dict[str, Setup]
    """By setup_id."""
    trials: list[Trial]

    @cached_property
    def by_method(self) -> Mapping[str, list[Trial]]:
        return by_key((trial.method.name, trial) for trial in self.trials)

    def joined(self, before: "TrialsFile") -> "TrialsFile":
        """Those of before, and of these what is new."""
        known = {(trial.subject, trial.number) for trial in before.trials}
        new = [trial for trial in self.trials if (trial.subject, trial.number) not in known]
        setups = {**self.setups, **before.setups}
        return self.model_copy(update={"setups": setups, "trials": [*before.trials, *new]})


COLUMNS = {
    **dict.fromkeys(("run_id", "setup_id", "label", "regime", "error", "created"), pa.string()),
    **dict.fromkeys(("method", "fixed", "metrics", "cost", "digests", "environment"), pa.string()),  # JSON
    **dict.fromkeys(("replicate", "number", "seed"), pa.int64()),
    "score": pa.float64(),
}


def write_trials(file: Path, content: TrialsFile) -> None:
    """Replace the file at once; trials stand in the order of label, method, what is fixed, replicate and number."""
    trials = sorted(content.trials, key=lambda trial: (trial.label, *trial.subject[1:], trial.number))
    plain = [trial.model_dump(mode="json", include=set(COLUMNS)) for trial in trials]
    rows = [{k: json.dumps(v, sort_keys=True) if isinstance(v, dict) else v for k, v in row.items()} for row in plain]
    about = content.model_dump(mode="json", exclude={"trials"}) | {"format": FORMAT}
    schema = pa.schema(list(COLUMNS.items()), metadata={"benchsuite": json.dumps(about, sort_keys=True)})
    table = pa.Table.from_pylist(rows, schema=schema)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", compression_level=PACKED, use_dictionary=[*REPEATED])
    write_whole(file, sink.getvalue().to_pybytes())


def read_trials(file: Path) -> TrialsFile:
    """The file's content; an error says what is wrong with it."""
    try:
        text, rows = _unpacked(read_stored(file, LARGEST_TRIALS))
        about = parse_text(text.decode())
        if about.pop("format", None) != FORMAT:
            raise RecordError(f"{file} has another format of trials than {FORMAT}; tune again with this version.")
        content = TrialsFile(**about, trials=_trials(rows))
    except OSError as error:
        raise RecordError(f"{file} is not a file of trials: {reason_of(error)}.") from error
    except (ArithmeticError, AttributeError, KeyError, MemoryError, TypeError, ValueError) as error:
        raise RecordError(f"{file} is not a file of trials: {_reason(error)}.") from error
    if content.recipe != file.stem:
        raise RecordError(f"{file} has the trials of recipe {content.recipe}; call it {content.recipe}.parquet.")
    return content


def _unpacked(content: bytes) -> tuple[bytes, list[dict[str, Any]]]:
    """What the file says of itself, and its rows; a ValueError if it is larger than it may be."""
    file = pq.ParquetFile(pa.BufferReader(content), pre_buffer=False)
    about = file.metadata
    size = sum(about.row_group(number).total_byte_size for number in range(about.num_row_groups))
    if about.num_rows > ROWS or about.num_columns > 2 * len(COLUMNS) or size > UNPACKED:
        what = f"{about.num_rows:,} rows of {about.num_columns} columns and {size:,} bytes"
        raise ValueError(f"{what}; at most {ROWS:,} rows and {UNPACKED:,} bytes are read")
    rows: list[dict[str, Any]] = []
    for batch in file.iter_batches(batch_size=BATCH, use_threads=False):
        size += batch.nbytes  # a text that is stored once may stand in every row
        if size > 2 * UNPACKED:
            raise ValueError(f"its rows hold more than {UNPACKED:,} bytes")
        rows += batch.to_pylist()
    return (file.schema_arrow.metadata or {})[b"benchsuite"], rows


def _reason(error: Exception) -> str:
    """Of pydantic's errors the first, in one line."""
    return first_problem(error) if isinstance(error, ValidationError) else str(error) or type(error).__name__


def add_trials(folder: Path, content: TrialsFile) -> int:
    """Add trials to those of a results folder, and say how many are new.

    Commands at the same time wait for each other; no trial is replaced.
    """
    known, file = 0, folder / TRIALS / f"{content.recipe}.parquet"
    with locked(lock_of(file)):
        if file.exists():
            before = read_trials(file)
            require_rule(before, content.rule, file)
            known, content = len(before.trials), content.joined(before)
        write_trials(file, content)
    return len(content.trials) - known


def require_rule(content: TrialsFile, rule: Mapping[str, Any], file: Path) -> None:
    """Refuse a file whose trials were drawn or judged by another rule than the recipe's."""
    if changed := changed_rule(content, rule):
        raise UsageError(
            f"{file} was made by another rule: the recipe's tuning differs in {', '.join(changed)}. "
            "Move the file away to tune by the new rule, or give another --results FOLDER."
        )


def changed_rule(content: TrialsFile, rule: Mapping[str, Any]) -> list[str]:
    """In which of its keys a rule is not the one by which trials were drawn and judged."""
    return [key for key in rule if key not in COUNTS and not alike(rule[key], content.rule.get(key))]


def best(trials: Iterable[Trial]) -> Trial | None:
    """The trial with the highest score, of equals the first; none if all failed."""
    scored = [(trial.score, -trial.number, trial) for trial in trials if trial.score is not None]
    return max(scored, key=lambda entry: entry[:2])[2] if scored else None


def by_subject(files: Iterable[TrialsFile]) -> dict[Subject, list[Trial]]:
    """Trials by what was tuned."""
    return by_key((trial.subject, trial) for file in files for trial in file.trials)


def trials_digest(trials: Iterable[Trial]) -> str:
    """Of the trials behind a choice and their scores, in the order of their numbers."""
    return digest([[trial.run_id, trial.score] for trial in sorted(trials, key=lambda trial: trial.number)])


def _trials(rows: Sequence[Mapping[str, Any]]) -> list[Trial]:
    """Most texts, above all those of environments, are other trials', too: each is parsed, and checked, once."""
    parsed = cache(parse_text)
    texts = ("method", "fixed", "metrics", "cost", "digests", "environment")
    trials = [Trial.model_validate({**row, **{name: parsed(row[name]) for name in texts}}) for row in rows]
    environments = {row["environment"]: trial.environment for row, trial in zip(rows, trials, strict=True)}
    wrong = chain(
        *(wrong_costs(trial.cost) for trial in trials), *(wrong_environment(one) for one in environments.values())
    )
    if problem := next(wrong, None):
        raise ValueError(problem)
    return trials
