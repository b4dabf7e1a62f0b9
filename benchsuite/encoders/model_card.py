"""README.md of a model that is given away: where it comes from, how it was trained, what it scores."""

import json
from collections.abc import Iterable, Iterator, Mapping
from statistics import mean, stdev
from typing import Any

from benchsuite.analysis.stats import MINIMUM, half_width
from benchsuite.records.schema import Record


def model_card(record: Record, stored: Iterable[Record], library: str) -> str:
    """Front matter as the hub reads it, and tables; with intervals, if enough replicates of the run are `stored`."""
    row = [each for each in stored if (each.setup_id, each.configuration) == (record.setup_id, record.configuration)]
    about = {"library_name": library, "pipeline_tag": "zero-shot-image-classification", "tags": ["benchsuite"]}
    assert record.setup.image
    base = record.setup.image.model.partition(":")[2].removeprefix("hf-hub:")
    if "/" in base and "?" not in base:  # a name on the hub
        about["base_model"] = base
    return "\n".join(
        [
            "---",
            *(f"{key}: {json.dumps(value)}" for key, value in about.items()),
            "---",
            f"# {base}, fine-tuned with {record.method.title}\n",
            f"Run {record.run_id} of benchsuite {record.environment['benchsuite']}, replicate {record.seed}.\n",
            "## Training\n\n| | |\n|---|---|",
            *(f"| {what} | {_settings(given)} |" for what, given in _training(record)),
            "\n## Evaluation\n\n| protocol | task | settings |\n|---|---|---|",
            *(
                f"| {name} | {each.task}, version {each.version} | {_settings(each.options)} on "
                f"{_settings((each.data or record.setup.data).model_dump(mode='json'))} |"
                for name, each in record.setup.protocols.items()
            ),
            "",
            *_numbers(record, row),
            "",
        ]
    )


def _training(record: Record) -> Iterator[tuple[str, Mapping[str, Any]]]:
    setup, method = record.setup.model_dump(mode="json"), record.method
    yield f"{method.name}, version {method.version}", method.hyperparameters
    if record.tuned:
        searched = ["learning rate", *record.tuned.searched]
        yield "searched on the validation split", {"trials": record.tuned.trials, "of": ", ".join(searched)}
    for name in ("data", "image", "text", "optimizer", "schedule", "augmentation", "training"):
        own = {"lr": method.learning_rate} if name == "optimizer" and method.learning_rate else {}
        yield name, {**setup[name], **own}


def _settings(given: Mapping[str, Any]) -> str:
    """In a cell of a table."""
    shown = (f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in given.items() if value is not None)
    return ", ".join(shown).replace("|", "\\|")


def _numbers(record: Record, row: list[Record]) -> Iterator[str]:
    """Metrics in percent."""
    several = len(row) >= MINIMUM
    yield "| percent | this run |" + f" mean of {len(row)} replicates ± half of its 95% interval |" * several
    yield "|---|---:|" + "---:|" * several
    for name, result in record.results.items():
        for metric, value in result.metrics.items():
            over = [100 * each.results[name].metrics[metric] for each in row]
            interval = f" {mean(over):.2f} ± {half_width(stdev(over), len(over)):.2f} |" if several else ""
            yield f"| {name}.{metric} | {100 * value:.2f} |{interval}"
