"""What a row was run with, in words: temperatures, what it has in place of the setup's, the trial that chose it."""

from benchsuite.analysis.labels import temperatures
from benchsuite.records.schema import Record


def own(record: Record) -> str:
    """What a row has of its own: `tau 0.05, learning rate 0.003, 2 times the steps`. Where it was tuned, temperatures
    that were not are said to be as printed."""
    rate, longer = record.method.learning_rate, record.method.longer
    printed = record.tuned.printed if record.tuned else []
    said = [
        f"{name} {value:.3g}{' (as printed, not tuned)' * (name in printed)}"
        for name, value in temperatures(record).items()
    ]
    said += [f"learning rate {rate:.3g}"] if rate else []
    return ", ".join([*said, *([f"{longer:g} times the steps"] if longer != 1 else [])])


def trials_behind(record: Record) -> str:
    """`trial 7 of 16, the best`, from trial 0 on; empty for hyper-parameters as printed."""
    tuned = record.tuned
    return f"trial {tuned.trial} of {tuned.trials}, the best" if tuned else ""
