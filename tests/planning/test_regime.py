"""Which hyper-parameters of a row are tuned and which stay as printed, from trials that were made up."""

from pathlib import Path
from typing import Any

import pytest
from support import tiny_tuning

from benchsuite.errors import UsageError
from benchsuite.folders import use_folders
from benchsuite.planning.chosen_trials import Trials
from benchsuite.planning.plan import Plan, plan_table, plan_tables
from benchsuite.planning.subjects import Subject
from benchsuite.planning.trial_runs import TrialRun, content_of, method_subjects, recipe_at, trial_run
from benchsuite.records.trials import Trial, TrialsFile, add_trials, best, read_trials
from benchsuite.verify.redraw import check_draws

SWITCHED = (
    '[[rows]]\nlabel = "{label}"\nbackbone = "mlp"\nmethod = "temo"\nhyperparameters = {{ tau = 0.01, {given} }}\n'
)
PARTS = tiny_tuning.TABLE.partition("[[columns]]")[0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    own = tiny_tuning.own_folder(tmp_path / "own")
    use_folders([own])
    return own


def rewrite(folder: Path, old: str, new: str, name: str = f"papers/{tiny_tuning.NAME}.toml") -> None:
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new))


def done(subject: Subject, number: int, score: float | None) -> Trial:
    trial: TrialRun = trial_run(subject, number)
    if score is None:
        return trial.failed("diverged")
    return trial.failed("").model_copy(update={"score": score, "metrics": {subject.rule.measure: score}})


def file_of(subjects: Any, scores: tuple[float | None, ...] = (0.1, 0.3, 0.3)) -> TrialsFile:
    files = [
        content_of(done(subject, number, score), subject, "vectors")
        for subject in subjects
        for number, score in enumerate(scores)
    ]
    trials = [trial for file in files for trial in file.trials]
    return files[0].model_copy(update={"trials": trials, "setups": {k: v for f in files for k, v in f.setups.items()}})


def plan(trials: TrialsFile | None = None, extra: tuple[str, ...] = ()) -> Plan:
    return plan_table(tiny_tuning.NAME, "latents", [0], extra=extra, trials=Trials(trials))


def tuned(extra: tuple[str, ...] = ()) -> tuple[Plan, dict[str, Trial]]:
    """The plan with trials of everything, and the chosen trial by method."""
    file = file_of(plan(extra=extra).subjects)
    chosen = {trial.method.name: trial for trial in file.trials if trial.number == 1}
    planned = plan(file, extra=extra)
    assert not untuned(planned)
    assert not planned.problems
    return planned, chosen


def untuned(planned: Plan) -> set[str]:
    return {run.method.name for run in planned.runs if run.tuned is None}


def part(planned: Plan, label: str, of: str = "end") -> Any:
    return next(run for run in planned.runs if run.label == f"mlp {label} {of} seed 0")


def test_the_first_of_the_best_trials_is_chosen(folder: Path) -> None:
    planned, chosen = tuned()
    run = part(planned, "TS")
    assert run.tuned.trial == 1
    assert run.method.learning_rate == chosen["ts"].method.learning_rate
    for name in ("tau_min", "tau_max"):
        assert run.method.hyperparameters[name] == chosen["ts"].method.hyperparameters[name]


def test_the_factor_multiplies_what_is_printed_alone(folder: Path) -> None:
    rewrite(folder, 'title = "My method"', 'title = "My method"\nprinted = ["tau_max"]')
    planned, chosen = tuned()
    values = part(planned, "TS").method.hyperparameters
    assert values["tau_max"] == 0.3 * 2
    assert values["tau_min"] == chosen["ts"].method.hyperparameters["tau_min"]
    assert part(planned, "TS").tuned.printed == ["periods", "tau_max"]


def test_a_row_without_a_varied_key_has_its_default(folder: Path) -> None:
    rewrite(folder, "tau_max = 0.3, periods = 5", "tau_max = 0.3")
    planned, _ = tuned()
    assert part(planned, "TS").method.hyperparameters["periods"] == 5


def test_what_a_part_gives_is_as_printed(folder: Path) -> None:
    rewrite(folder, 'variant = "untrained"', 'variant = "untrained", hyperparameters = { tau_min = 0.02 }')
    planned, chosen = tuned()
    assert part(planned, "TS", "start").method.hyperparameters["tau_min"] == 0.02 * 2
    assert part(planned, "TS").method.hyperparameters["tau_min"] == chosen["ts"].method.hyperparameters["tau_min"]
    assert "tau_min" in part(planned, "TS", "start").tuned.printed


@pytest.mark.parametrize(
    ("first", "second", "fixed", "printed"),
    [
        ("base = false", "base = false", {"base": False}, []),
        ("base = true", "base = true", {}, []),
        ('base = false, schedule = "fixed"', "base = false", {"base": False}, ["schedule"]),
    ],
)
def test_switches_are_fixed_where_all_rows_share_them(
    folder: Path, first: str, second: str, fixed: dict[str, Any], printed: list[str]
) -> None:
    """Those that differ stay as printed in the rows, and a default needs no subject of its own."""
    file = folder / "papers" / f"{tiny_tuning.NAME}.toml"
    rows = SWITCHED.format(label="A", given=first) + SWITCHED.format(label="B", given=second)
    file.write_text(file.read_text() + rows)
    subject = next(subject for subject in plan().subjects if subject.method == "temo")
    assert subject.fixed == fixed
    planned, chosen = tuned()
    run = part(planned, "A")
    assert run.tuned.printed == printed
    assert run.method.hyperparameters["base"] is not ("base" in fixed)
    assert run.method.hyperparameters["tau"] == chosen["temo"].method.hyperparameters["tau"]
    if printed:
        assert (run.method.hyperparameters["schedule"], chosen["temo"].method.hyperparameters["schedule"]) == (
            "fixed",
            "quadratic",
        )


def test_an_added_method_is_tuned_in_the_same_way(folder: Path) -> None:
    planned, chosen = tuned(extra=("cwcl",))
    run = part(planned, "CWCL")
    assert run.method.hyperparameters["tau"] == chosen["cwcl"].method.hyperparameters["tau"]


def test_where_all_trials_diverged_a_problem_says_so(folder: Path) -> None:
    file = file_of(plan().subjects, (None, None, None))
    assert "mlp ts: all of its trials diverged" in str(plan(file).problems[0])


def test_trials_of_another_version_or_setup_are_not_used(folder: Path) -> None:
    file = file_of(plan().subjects)
    older = [t.model_copy(update={"method": t.method.model_copy(update={"version": 2})}) for t in file.trials]
    planned = plan(file.model_copy(update={"trials": older}))
    assert untuned(planned) == {"ts", "infonce"}
    assert Trials(file.model_copy(update={"trials": older})).others(planned.subjects[0]) == 3
    rewrite(folder, "steps = 3", "steps = 4", "recipes/vectors.toml")
    assert untuned(plan(file)) == {"ts", "infonce"}


def test_trials_of_the_results_folder_count(folder: Path, tmp_path: Path) -> None:
    add_trials(tmp_path / "runs", file_of(plan().subjects, (0.1, 0.2, 0.3)))
    plans = plan_tables([tiny_tuning.NAME], "latents", [0], (), (), {}, regime=None, results=tmp_path / "runs")
    assert part(plans[0], "TS").tuned.trial == 2


def test_a_stored_trial_is_not_replaced(folder: Path, tmp_path: Path) -> None:
    subjects = plan().subjects
    for scores in ((0.1, 0.2), (0.9, 0.9, 0.3)):
        add_trials(tmp_path, file_of(subjects, scores))
    content = read_trials(tmp_path / "trials" / "vectors.parquet")
    assert [t.score for t in content.trials if t.method.name == "ts"] == [0.1, 0.2, 0.3]


def test_a_recipe_without_a_rule_has_rows_as_printed(folder: Path, tmp_path: Path) -> None:
    rewrite(folder, "[tuning]", "[tuned.x]\nchosen = '1'\ntrials = 1\nrule = 'r'\n[ignored]", "recipes/vectors.toml")
    text = (folder / "recipes/vectors.toml").read_text().partition("[ignored]")[0]
    (folder / "recipes/vectors.toml").write_text(text)
    about: dict[str, Any] = {"results": tmp_path}
    (printed,) = plan_tables([tiny_tuning.NAME], "latents", [0], (), (), {}, regime=None, **about)
    assert (printed.request.regime, printed.request.name) == ("printed", "mine-first-latents")
    assert {run.method.learning_rate for run in printed.runs} == {None}
    with pytest.raises(UsageError, match=r"recipe vectors has no \[tuning\]"):
        plan_tables([tiny_tuning.NAME], "latents", [0], (), (), {}, regime="tuned", **about)
    with pytest.raises(UsageError, match=r"recipe vectors has no \[tuning\]"):
        plan_tables([tiny_tuning.NAME], "latents", [0], (), (), {}, regime=None, tune=True, **about)
    mixed = plan_tables([tiny_tuning.NAME, "temo/table1"], "latents", [0], (), (), {}, regime=None, tune=True, **about)
    assert [plan.request.regime for plan in mixed] == ["printed", "tuned"]


def test_a_recipe_that_prints_by_default_is_tuned_only_when_asked(folder: Path, tmp_path: Path) -> None:
    rewrite(folder, "seeds = ", 'regime = "printed"\nseeds = ', "recipes/vectors.toml")

    def regime_of(**asked: Any) -> str:
        about = {"regime": None, "results": tmp_path, **asked}
        return plan_tables([tiny_tuning.NAME], "latents", [0], (), (), {}, **about)[0].request.regime

    assert regime_of() == regime_of(regime="printed", tune=True) == "printed"
    assert regime_of(tune=True) == regime_of(regime="tuned") == "tuned"


def test_a_request_says_how_it_is_judged(folder: Path) -> None:
    request = tuned()[0].request
    assert (request.regime, request.name) == ("tuned", "mine-first-latents-tuned")
    assert request.primary["retrieval"].model_dump() == {"metric": "t2i_r10", "difference": 0.01}


def test_what_a_method_refuses_is_drawn_again(folder: Path) -> None:
    """iSogCLR wants tau between tau_min and tau_max; the draws that are checked are those that are used."""
    (subject,) = method_subjects("isogclr", "vectors", {})
    parts = [subject.drawn(number).hyperparameters for number in range(12)]
    assert all(p["tau_min"] <= p["tau"] <= p["tau_max"] for p in parts)
    assert not list(check_draws(file_of([subject], (0.1,) * 12), "f"))


def test_a_method_that_refuses_all_draws_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchsuite.methods import method_class

    (subject,) = method_subjects("infonce", "vectors", {})
    monkeypatch.setattr(method_class("infonce"), "setup", lambda self: (_ for _ in ()).throw(self.refuse("never.")))
    with pytest.raises(UsageError, match=r"trial 0 of mlp infonce: 100 draws are refused, the last one by: .*never"):
        subject.drawn(0)


def test_a_measure_that_the_task_lacks_is_refused(folder: Path) -> None:
    rewrite(folder, "validation.t2i_r10", "validation.t2i_r7", "recipes/vectors.toml")
    with pytest.raises(UsageError, match=r'tuning, measure: metric "t2i_r7" does not exist'):
        method_subjects("infonce", "vectors", {})


def test_a_scale_finds_the_recipe_of_a_method(folder: Path) -> None:
    assert recipe_at("mm-ts-margin", "small") == "clips-small"
    with pytest.raises(UsageError, match=r"at scale small, several recipes train infonce: .*scenes-small"):
        recipe_at("infonce", "small")
    with pytest.raises(UsageError, match='scale "huge" does not exist'):
        recipe_at("infonce", "huge")


def test_best_of_nothing_is_none(folder: Path) -> None:
    assert best(file_of(plan().subjects, (None,)).trials) is None
