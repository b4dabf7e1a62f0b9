"""What is checked of tuning trials: records follow from them, and searches that are too short are noted."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.made_records import MakeRecord
from support.whole_folder import drawn_trials

from benchsuite.evaluation.rank_metrics import RULES
from benchsuite.planning.recipe import Primary
from benchsuite.records.schema import Record, TunedBy
from benchsuite.records.store import Store
from benchsuite.records.trials import TRIALS, TrialsFile, best, trials_digest, write_trials
from benchsuite.verify.audit import audit_folder
from benchsuite.verify.audit_trials import check_tuned, too_short


def tuned_by(make: MakeRecord, file: TrialsFile, digest: str) -> tuple[Record, bytes]:
    """A record that the file's best trial chose."""
    chosen = best(file.trials)
    assert chosen is not None
    rate, base = chosen.method.learning_rate, file.setups[chosen.setup_id].optimizer.lr
    own = rate and rate * (make(5)[0].setup.optimizer.lr / base)
    tuned = TunedBy(trials=len(file.trials), trial=chosen.number, score=chosen.score, digest=digest)
    cost = {"seconds": 1.5, "tuning_trials": len(file.trials)}
    return make(5, method=chosen.method.model_copy(update={"learning_rate": own}), tuned=tuned, cost=cost)


@pytest.mark.parametrize(
    ("part", "change", "says"),
    [
        ("method", {"learning_rate": 0.5}, "its learning rate is 0.5"),
        ("method", {"hyperparameters": {"tau": 0.9}}, "its tau is 0.9"),
        ("tuned", {"score": 0.99}, "with 0.99 of"),
        ("tuned", {"trial": 1}, "it names trial 1 with 0.5 of 4; the best of 4 is trial 0"),
    ],
)
def test_what_a_tuned_record_says_follows_from_its_trials(
    make_sound: MakeRecord, part: str, change: dict[str, Any], says: str
) -> None:
    file = drawn_trials(replicate=5)
    record, _ = tuned_by(make_sound, file, trials_digest(file.trials))
    assert list(check_tuned({"r": record}, [file])) == []
    forged = record.model_copy(update={part: getattr(record, part).model_copy(update=change)})
    assert says in next(check_tuned({"r": forged}, [file])).message
    cheaper = record.model_copy(update={"cost": {"tuning_trials": 1}})
    assert "cost.tuning_trials is 1" in next(check_tuned({"r": cheaper}, [file])).message


@pytest.mark.parametrize(("late", "says"), [(0.513, "+1.3 points above the best of 2"), (0.507, ""), (0.4, "")])
def test_searches_whose_second_half_finds_what_matters_still_climb(
    make_sound: MakeRecord, late: float, says: str
) -> None:
    file = drawn_trials(replicate=5)
    file.trials[2] = file.trials[2].model_copy(update={"score": late})
    record, _ = tuned_by(make_sound, file, trials_digest(file.trials))
    assert record.tuned
    searched = record.model_copy(update={"tuned": record.tuned.model_copy(update={"searched": ["tau"]})})
    setting = SimpleNamespace(primary={"retrieval": Primary(metric="t2i_r1", difference=0.01)})

    def notes(of: Record) -> list[str]:
        row = SimpleNamespace(key=("RN50", "", "InfoNCE"), records=[of])
        asked = SimpleNamespace(name="t", trials=4, place=("t", "s"), regime="tuned")
        view: Any = SimpleNamespace(asked=asked, setting=setting, rows=[row])
        return [note.message for note in too_short([view], [file])]

    assert notes(searched) == [f"RN50/InfoNCE: its searches still climb: the best of 4 trials is {says}"] * bool(says)
    assert notes(record) == [], "the learning rate alone"


@pytest.mark.parametrize(
    ("printed", "says"), [(0.52, "-2.0 ± 0.2 points"), (0.5, ""), (0.48, "")], ids=["below", "equal", "above"]
)
def test_searches_that_end_below_the_printed_values_are_too_short(
    make_sound: MakeRecord, printed: float, says: str
) -> None:
    tuned = TunedBy(trials=4, trial=1, score=0.5, digest="d", searched=["tau"])

    def view(regime: str, scores: Sequence[float]) -> Any:
        runs = [make_sound(n, tuned=tuned.model_copy(update={"score": score}))[0] for n, score in enumerate(scores)]
        row = SimpleNamespace(key=("RN50", "", "InfoNCE"), records=runs)
        asked = SimpleNamespace(name="t", trials=4, place=("t", "s"), regime=regime)
        setting = SimpleNamespace(primary={})
        return SimpleNamespace(asked=asked, setting=setting, rows=[row], row={row.key: row}.get)

    views = view("printed", [printed, printed + 0.001, printed - 0.001]), view("tuned", [0.5] * 3)
    notes = [(note.file, note.message, note.fix) for note in too_short(views, [])]
    message = f"RN50/InfoNCE: its searches end below its printed values: {says}".replace("-", "\N{MINUS SIGN}")
    assert notes == [("tables/t.json", message, "`repro` with --trials 8 goes on")] * bool(says)
    assert list(too_short(views[1:], [])) == [], "as printed was not run"


def test_a_tuned_record_names_the_folder_s_trials(sound_folder: Callable[[int], Path], make_sound: MakeRecord) -> None:
    folder, file = sound_folder(3), drawn_trials(replicate=5)
    write_trials(folder / TRIALS / "latents-pairs.parquet", file)
    trials = file.trials
    for digest, says in ((trials_digest(trials), []), ("0" * 64, [f"the {len(trials)} trials that it was tuned by"])):
        Store(folder).write(*tuned_by(make_sound, file, digest))
        found = [problem.message for problem in audit_folder(folder, RULES).problems]
        assert len(found) == len(says)
        assert all(message.startswith(start) for message, start in zip(found, says, strict=True))
        file_of_it = next(path for path in folder.glob("*-s5-*.json"))
        file_of_it.unlink()
