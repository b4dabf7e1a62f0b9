"""A run's kept weights as a folder that anyone can load: nothing in it names this machine."""

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from statistics import mean, stdev
from tempfile import TemporaryDirectory
from typing import Any, Literal

from safetensors.torch import save_model

from benchsuite.analysis.stats import MINIMUM, half_width
from benchsuite.errors import UsageError
from benchsuite.files import drafted, put, require_writable, sha256_of, write_whole, writing_to
from benchsuite.models.clip_models import Projected, blank_model
from benchsuite.models.judged import interpolated, judged
from benchsuite.models.layout import CONFIG, TOKENIZER, WEIGHTS, Exported, Inputs, Kept, read_kept
from benchsuite.models.saved import rebuilt
from benchsuite.records.names import WEIGHTS as FOLDER
from benchsuite.records.schema import Record
from benchsuite.records.store import Store

ENVIRONMENT = ("benchsuite", "python", "device", "threads", "packages")


def export_weights(file: Path, record: Record, out: Path) -> Exported:
    """Write the folder `out`, which must be new or empty, at once. `file` is the record's."""
    kept_file = kept_weights_of(file, record)
    kept = read_kept(kept_file)
    if out.exists() and (not out.is_dir() or next(out.iterdir(), None)):
        raise UsageError(f"--out {out}: it exists and is not an empty folder. Give a new one.")
    require_writable(out.parent, "--out")
    with writing_to(out, "--out"), drafted(out) as draft:
        (draft / TOKENIZER).mkdir(parents=True)
        shutil.copyfile(kept_file, draft / WEIGHTS)
        for name, content in kept.tokenizer_files().items():
            write_whole(draft / TOKENIZER / Path(name).name, content)
        if not kept.tokenizer:
            (draft / TOKENIZER).rmdir()
        exported = _config(record, kept, draft)
        write_whole(draft / CONFIG, (exported.model_dump_json(indent=1) + "\n").encode())
        put(draft, out)
    return exported


def export_model(
    file: Path,
    record: Record,
    out: Path,
    library: Literal["transformers", "open_clip"],
    alpha: float | None = None,
    pretrained: str | None = None,
) -> None:
    """Write the whole model in its library's layout, and its card.

    Only what the library has can be in it: no projection of ours. With `alpha`, so much of the run's weights and the
    rest of those before the training, which are at `pretrained` or where the run had them.
    """
    with TemporaryDirectory() as folder:
        place = Path(folder) / "own"
        about = export_weights(file, record, place)
        if alpha is None:
            encoder: Any = rebuilt(place, about)[0]
        else:
            (mixed,) = interpolated(judged(str(place)), [alpha], pretrained)
            encoder = mixed.sides.encoder.cpu()  # type: ignore[attr-defined]
        towers: dict[str, Any] = dict(encoder.named_children())
        sides = [side for side in towers.values() if isinstance(side, Projected) and side.kept]
        if [side.library for side in sides] != [library, library] or sides[0].config != sides[1].config:
            raise UsageError(
                f"--format {library}: run {record.run_id} did not train both sides of one model of {library} with its "
                "own projections. Leave --format out."
            )
        model = blank_model(library, sides[0].config)
        model.load_state_dict({name: part for side in sides for name, part in side.model.state_dict().items()})
        with writing_to(out, "--out"), drafted(out) as draft:
            shutil.copytree(place / TOKENIZER, draft)
            if library == "transformers":
                model.save_pretrained(draft)
                pictures = json.dumps(_pictures(about), indent=1)
                write_whole(draft / "preprocessor_config.json", pictures.encode())
            else:
                save_model(model, str(draft / "open_clip_model.safetensors"))
            card = model_card(record, Store(file.parent).read().records.values(), library, alpha)
            write_whole(draft / "README.md", card.encode())
            put(draft, out)


def _pictures(about: Exported) -> dict[str, Any]:
    """How the model's pictures are made, in transformers' words."""
    assert about.setup.image
    size, squashed = about.inputs.pictures[0], about.setup.data.options.get("fit", "crop") == "squash"
    return {
        "image_processor_type": "SiglipImageProcessor" if squashed else "CLIPImageProcessor",
        "size": {"height": size, "width": size} if squashed else {"shortest_edge": size},
        "do_center_crop": not squashed,
        "crop_size": {"height": size, "width": size},
        "image_mean": about.setup.image.mean,
        "image_std": about.setup.image.std,
        "resample": 3,
    }


def kept_weights_of(file: Path, record: Record) -> Path:
    """The file of a record's weights; refused if they were not kept, are gone, or are others."""
    where = f"run {record.run_id} ({record.method.title}, seed {record.seed})"
    if record.weights is None:
        raise UsageError(
            f"{where}: its trained weights were not kept. Measure it again with --keep-weights, or with "
            "keep_weights = true in its recipe, into another --results FOLDER: no record is replaced."
        )
    kept = file.parent / FOLDER / record.weights.file
    if not kept.is_file():
        raise UsageError(f"{where}: its weights are not there: {kept} was deleted, or not copied with the record.")
    if sha256_of(kept) != record.weights.sha256:
        raise UsageError(f"{where}: {kept} is not what the record was sealed with: edited, or damaged.")
    return kept


def _config(record: Record, kept: Kept, folder: Path) -> Exported:
    method = {"name": record.method.name, "title": record.method.title, "version": record.method.version}
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    setup, text = record.setup, record.setup.text
    if text and Path(text.transformer).is_absolute():  # of a folder only the name is told
        text = text.model_copy(update={"transformer": Path(text.transformer).name})
        setup = setup.model_copy(update={"text": text})
    return Exported(
        run={
            "run_id": record.run_id,
            "setup_id": record.setup_id,
            "method_id": record.method_id,
            "method": {**method, "hyperparameters": record.method.hyperparameters},
            "seed": record.seed,
            "recipe": record.recipe,
            "record": record.digest,
            "created": record.created,
            "digests": record.digests,
        },
        setup=setup,
        inputs=Inputs(**{name: getattr(kept, name) for name in Inputs.model_fields}),
        environment={key: record.environment[key] for key in ENVIRONMENT if key in record.environment},
        files={path.relative_to(folder).as_posix(): sha256_of(path) for path in files},
    )


def model_card(record: Record, stored: Iterable[Record], library: str, alpha: float | None = None) -> str:
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
            *_mixture(alpha),
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


def _mixture(alpha: float | None) -> Iterator[str]:
    if alpha is not None:
        yield (
            f"\n## Weights\n\n{alpha:g} of the fine-tuned weights and {1 - alpha:g} of those before (WiSE-FT). The "
            "numbers below are those of the fine-tuned weights alone: evaluate these anew."
        )


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
