"""Which hyper-parameters of a row are tuned and which stay as printed, from trials that were made up."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support import tiny_tuning

from benchsuite.cli.shared.training_options import TrainingOptions
from benchsuite.cli.tune import find_subjects
from benchsuite.errors import UsageError
from benchsuite.folders import use_folders
from benchsuite.planning.chosen_trials import Trials
from benchsuite.planning.plan import Plan, plan_table, plan_tables
from benchsuite.planning.recipe import read_recipe
from benchsuite.planning.subjects import Subject, judged_by
from benchsuite.planning.trial_runs import TrialRun, content_of, method_subjects, recipe_at, trial_run
from benchsuite.records.requests import Regime
from benchsuite.records.trials import Trial, TrialsFile, add_trials, read_trials
from benchsuite.verify.audit_trials import check_draws, check_trials, unknown_draws

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


def plan(trials: TrialsFile | None = None, extra: tuple[str, ...] = (), regime: Regime = "tuned") -> Plan:
    return plan_table(tiny_tuning.NAME, "latents", [0, 1], extra=extra, trials=Trials(trials), regime=regime)


def tuned(extra: tuple[str, ...] = (), regime: Regime = "tuned") -> tuple[Plan, dict[str, Trial]]:
    """The plan with trials of everything, and the chosen trial by label of its search, in words."""
    subjects = plan(extra=extra, regime=regime).subjects
    file = file_of(subjects, (0.1, 0.3, 0.3, 0.2, 0.2)[: subjects[0].trials])
    chosen = {
        str(subject): next(t for t in file.trials if t.subject == subject.key and t.number == 1) for subject in subjects
    }
    planned = plan(file, extra=extra, regime=regime)
    assert not untuned(planned)
    assert not planned.problems
    return planned, chosen


TS = "mlp ts (tau_max = 0.3, periods = 5.0)"


def untuned(planned: Plan) -> set[str]:
    return {run.method.name for run in planned.runs if run.tuned is None}


def part(planned: Plan, label: str, of: str = "end", replicate: int = 0) -> Any:
    return next(run for run in planned.runs if run.label == f"mlp {label} {of} seed {replicate}")


def searches(planned: Plan) -> dict[str, Subject]:
    return {str(subject): subject for subject in planned.subjects}


def test_each_row_is_searched_in_each_replicate(folder: Path) -> None:
    """The two rows of TS differ in what the table is about; the reference is searched at its longer length."""
    found = searches(plan())
    rows = ("mlp ts (periods = 5.0)", "mlp ts (periods = 9.0)", "mlp infonce (2 times the steps)")
    assert set(found) == {f"{row}, replicate {r}" for row in rows for r in (0, 1)}
    assert {subject.trials for subject in found.values()} == {3}
    data = {r: {one.setup.data.digest for one in found.values() if one.replicate == r} for r in (0, 1)}
    assert [len(digests) for digests in data.values()] == [1, 1]
    assert data[0] != data[1]


def test_the_first_of_the_best_trials_is_chosen_in_each_replicate(folder: Path) -> None:
    planned, chosen = tuned()
    for replicate in (0, 1):
        run, best_one = (
            part(planned, "TS", replicate=replicate),
            chosen[f"mlp ts (periods = 5.0), replicate {replicate}"],
        )
        assert run.tuned.trial == 1
        assert run.tuned.searched == ["tau_max", "tau_min"]
        assert run.method == best_one.method
        assert run.seed == replicate
    values = [part(planned, "TS", replicate=r).method.hyperparameters["tau_min"] for r in (0, 1)]
    assert values[0] != values[1]


def test_as_printed_the_learning_rate_alone_is_searched(folder: Path) -> None:
    planned, chosen = tuned(regime="printed")
    assert {subject.trials for subject in planned.subjects} == {5}
    for replicate in (0, 1):
        run = part(planned, "TS", replicate=replicate)
        assert run.tuned.searched == []
        assert run.method.learning_rate == chosen[f"{TS}, as printed, replicate {replicate}"].method.learning_rate
        assert run.method.hyperparameters["tau_max"] == 0.3 * 2, "by the recipe's factor"
        assert run.method.hyperparameters["periods"] == 5
    assert not [run for run in planned.runs if run.method.longer != 1]


def test_the_factor_multiplies_what_is_printed_alone(folder: Path) -> None:
    rewrite(folder, 'title = "My method"', 'title = "My method"\nprinted = ["tau_max"]')
    planned, chosen = tuned()
    values = part(planned, "TS").method.hyperparameters
    assert values["tau_max"] == 0.3 * 2
    assert values["tau_min"] == chosen[f"{TS}, replicate 0"].method.hyperparameters["tau_min"]
    assert part(planned, "TS").tuned.searched == ["tau_min"]


def test_what_rows_of_one_method_differ_in_is_drawn_where_the_table_says_so(folder: Path) -> None:
    """Rows that differ in nothing else are one search, and one run."""
    rewrite(folder, 'title = "My method"', 'title = "My method"\nsearched = ["periods"]')
    planned, _ = tuned()
    assert {name for name in searches(planned) if "infonce" not in name} == {f"mlp ts, replicate {r}" for r in (0, 1)}
    run = part(planned, "TS")
    assert run.tuned.searched == ["periods", "tau_max", "tau_min"]
    assert run.run_id == part(planned, "TS, 9 periods").run_id


def test_a_row_without_a_varied_key_has_its_default(folder: Path) -> None:
    rewrite(folder, "tau_max = 0.3, periods = 5", "tau_max = 0.3")
    planned, _ = tuned()
    assert part(planned, "TS").method.hyperparameters["periods"] == 5
    assert part(planned, "TS").tuned.searched == ["tau_max", "tau_min"]


def test_what_a_part_gives_is_fixed_in_its_search(folder: Path) -> None:
    rewrite(folder, 'variant = "untrained"', 'variant = "untrained", hyperparameters = { tau_min = 0.02 }')
    planned, _ = tuned()
    assert part(planned, "TS", "start").method.hyperparameters["tau_min"] == 0.02 * 2
    assert part(planned, "TS", "start").tuned.searched == ["tau_max"]
    assert part(planned, "TS").tuned.searched == ["tau_max", "tau_min"]


def test_parts_share_a_rows_search_and_keep_the_ratio_of_rates(folder: Path) -> None:
    planned, _ = tuned()
    end, start = (part(planned, "TS", of) for of in ("end", "start"))
    assert start.tuned == end.tuned
    assert start.method.learning_rate == pytest.approx(end.method.learning_rate * 1e-6)


@pytest.mark.parametrize(
    ("first", "second", "fixed", "printed"),
    [
        ("base = false", "base = false", {"base": False}, []),
        ("base = true", "base = true", {}, []),
        ('base = false, schedule = "fixed"', "base = false", {"base": False, "schedule": "fixed"}, ["schedule"]),
    ],
)
def test_switches_are_fixed_as_the_row_has_them(
    folder: Path, first: str, second: str, fixed: dict[str, Any], printed: list[str]
) -> None:
    file = folder / "papers" / f"{tiny_tuning.NAME}.toml"
    rows = SWITCHED.format(label="A", given=first) + SWITCHED.format(label="B", given=second)
    file.write_text(file.read_text() + rows)
    subject = next(subject for subject in plan().subjects if subject.method == "temo")
    assert subject.fixed == fixed
    planned, chosen = tuned()
    run = part(planned, "A")
    assert run.method == chosen[str(subject)].method
    assert run.method.hyperparameters["base"] is not ("base" in fixed)
    assert (part(planned, "B").method.hyperparameters["schedule"] == "fixed") is False
    assert (run.method.hyperparameters["schedule"] == "fixed") is bool(printed)


def test_an_added_method_is_searched_in_the_same_way(folder: Path) -> None:
    planned, chosen = tuned(extra=("cwcl",))
    run = part(planned, "CWCL")
    assert run.method == chosen["mlp cwcl, replicate 0"].method
    ours = chosen["mlp ts (periods = 5.0), replicate 0"].method.hyperparameters["tau_min"]
    assert run.method.hyperparameters["tau"] == ours, "all look at the same temperatures"


def test_where_all_trials_diverged_a_problem_says_so(folder: Path) -> None:
    file = file_of(plan().subjects, (None, None, None))
    assert "mlp ts (periods = 5.0), replicate 0: all of its trials diverged" in str(plan(file).problems[0])


def test_trials_of_another_version_or_setup_are_not_used(folder: Path) -> None:
    file = file_of(plan().subjects)
    older = [t.model_copy(update={"method": t.method.model_copy(update={"version": 2})}) for t in file.trials]
    planned = plan(file.model_copy(update={"trials": older}))
    assert untuned(planned) == {"ts", "infonce"}
    rewrite(folder, "steps = 3", "steps = 4", "recipes/vectors.toml")
    assert untuned(plan(file)) == {"ts", "infonce"}


def test_a_stored_trial_is_not_replaced(folder: Path, tmp_path: Path) -> None:
    subjects = plan().subjects
    for scores in ((0.1, 0.2), (0.9, 0.9, 0.3)):
        add_trials(tmp_path, file_of(subjects, scores))
    content = read_trials(tmp_path / "trials" / "vectors.parquet")
    assert [t.score for t in content.trials if t.subject == subjects[0].key] == [0.1, 0.2, 0.3]


def test_a_recipe_without_a_rule_has_rows_as_printed(folder: Path, tmp_path: Path) -> None:
    rewrite(folder, "[tuning]", "[tuned.x]\nchosen = '1'\ntrials = 1\nrule = 'r'\n[ignored]", "recipes/vectors.toml")
    text = (folder / "recipes/vectors.toml").read_text().partition("[ignored]")[0]
    (folder / "recipes/vectors.toml").write_text(text)
    about: dict[str, Any] = {"results": tmp_path}
    (printed,) = plan_tables([tiny_tuning.NAME], "latents", [0], (), (), {}, regime=None, **about)
    assert (printed.request.regime, printed.request.name) == ("printed", "mine-first-latents")
    assert {run.method.learning_rate for run in printed.runs} == {None}
    for asked in ("tuned", "both"):
        with pytest.raises(UsageError, match=r"recipe vectors has no \[tuning\]"):
            plan_tables([tiny_tuning.NAME], "latents", [0], (), (), {}, regime=asked, **about)
    with pytest.raises(UsageError, match=r"recipe vectors has no \[tuning\]"):
        plan_tables([tiny_tuning.NAME], "latents", [0], (), (), {}, regime=None, count=4, **about)
    mixed = plan_tables([tiny_tuning.NAME, "temo/table1"], "latents", [0], (), (), {}, regime="both", **about)
    assert [plan.request.name for plan in mixed] == [
        "mine-first-latents", "temo-table1-latents", "temo-table1-latents-tuned",
    ]  # fmt: skip


def test_both_regimes_are_planned_unless_one_is_asked_for_or_the_recipe_names_one(folder: Path, tmp_path: Path) -> None:
    def regimes(**asked: Any) -> list[str]:
        about = {"regime": None, "results": tmp_path, **asked}
        plans = plan_tables([tiny_tuning.NAME], "latents", [0], (), (), {}, **about)
        assert all(bool(plan.subjects) is (asked.get("count") != 0) for plan in plans)
        return [plan.request.regime for plan in plans]

    assert regimes() == regimes(regime="both") == ["printed", "tuned"]
    assert regimes(regime="tuned") == ["tuned"]
    assert regimes(regime="printed") == regimes(count=0) == regimes(count=0, regime="printed") == ["printed"]
    with pytest.raises(UsageError, match="--trials 0 and --regime tuned exclude each other"):
        regimes(regime="tuned", count=0)
    rewrite(folder, "seeds = ", 'regime = "printed"\nseeds = ', "recipes/vectors.toml")
    assert regimes() == ["printed"]
    assert regimes(regime="both") == ["printed", "tuned"]


def test_without_trials_as_printed_rows_have_the_recipes_rate_and_are_searched_as_tuned_alone(
    folder: Path, tmp_path: Path
) -> None:
    rewrite(folder, "trials = 3", "trials = 3\nprinted_trials = 0", "recipes/vectors.toml")
    about: dict[str, Any] = {"regime": "both", "results": tmp_path}
    for count in (None, 2):
        printed, tuned = plan_tables([tiny_tuning.NAME], "latents", [0], (), (), {}, **about, count=count)
        assert [(plan.request.regime, plan.request.trials) for plan in (printed, tuned)] == [
            ("printed", 0), ("tuned", count or 3),
        ]  # fmt: skip
        assert {run.method.learning_rate for run in printed.runs} == {None}
        assert (len(printed.subjects), len(tuned.subjects)) == (0, 3)
    own = TrainingOptions(tables=[folder])
    subjects, _ = find_subjects(["ts"], own, "latents", str(folder / "recipes/vectors.toml"), [0], "both", None)
    assert {subject.regime for subject in subjects} == {"tuned"}


def test_a_variant_changes_a_protocol_of_trials_in_trials_alone(folder: Path) -> None:
    change = 'protocols.validation.options = { split = "test" }, training.steps'
    rewrite(folder, "change = { training.steps", f"change = {{ {change}", "recipes/vectors.toml")
    recipe = read_recipe(str(folder / "recipes/vectors.toml"))
    assert recipe.tuning
    (judged,) = judged_by(recipe.tuning, recipe).setup("mlp", ["untrained"]).protocols.values()
    assert judged.options == {"split": "test"}
    assert recipe.setup("mlp", ["untrained"]).protocols == recipe.protocols
    rewrite(folder, "protocols.validation.options", "protocols.valid.options", "recipes/vectors.toml")
    with pytest.raises(UsageError, match='variant untrained, protocols: protocol "valid" does not exist'):
        read_recipe(str(folder / "recipes/vectors.toml"))


def test_a_request_says_how_many_trials_each_search_has(folder: Path, tmp_path: Path) -> None:
    def asked(count: int | None) -> int:
        about: dict[str, Any] = {"regime": "tuned", "results": tmp_path, "count": count}
        (planned,) = plan_tables([tiny_tuning.NAME], "latents", [0], ["TS"], (), {}, **about)
        own = TrainingOptions(tables=[folder])
        searched, _ = find_subjects([tiny_tuning.NAME], own, "latents", None, [0], "tuned", count)
        assert {subject.trials for subject in (*planned.subjects, *searched)} == {count or 3}
        return planned.request.trials

    assert (asked(None), asked(3), asked(2)) == (3, 3, 2)


def test_of_more_trials_than_are_asked_for_the_first_count(folder: Path, tmp_path: Path) -> None:
    add_trials(tmp_path, file_of(plan().subjects, (0.1, 0.2, 0.9)))
    asked: dict[str, Any] = {"regime": "tuned", "results": tmp_path, "count": 2}
    (planned,) = plan_tables([tiny_tuning.NAME], "latents", [0], ["TS"], (), {}, **asked)
    assert (part(planned, "TS").tuned.trial, part(planned, "TS").tuned.trials) == (1, 2)


def test_a_diverged_trial_is_as_valid_as_any(folder: Path) -> None:
    assert not list(check_trials(file_of(plan().subjects, (0.1, None, 0.3)), "f"))


def test_trials_of_another_version_are_noted(folder: Path) -> None:
    file = file_of(plan().subjects)
    assert not list(unknown_draws(file, "f"))
    first, *others = file.trials
    older = first.model_copy(update={"method": first.method.model_copy(update={"version": 2})})
    (note,) = unknown_draws(file.model_copy(update={"trials": [older, *others]}), "f")
    assert "another version" in note.message


def test_what_a_method_refuses_is_drawn_again(folder: Path) -> None:
    """iSogCLR wants tau between tau_min and tau_max; the draws that are checked are those that are used."""
    (subject,) = method_subjects("isogclr", "vectors", {}, [3])
    parts = [subject.drawn(number).hyperparameters for number in range(12)]
    assert all(p["tau_min"] <= p["tau"] <= p["tau_max"] for p in parts)
    assert not list(check_draws(file_of([subject], (0.1,) * 12), "f"))


def test_a_method_that_refuses_all_draws_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchsuite.methods import method_class

    (subject,) = method_subjects("infonce", "vectors", {}, [0])
    monkeypatch.setattr(method_class("infonce"), "setup", lambda self: (_ for _ in ()).throw(self.refuse("never.")))
    with pytest.raises(
        UsageError, match=r"trial 0 of mlp infonce, replicate 0: 100 draws are refused, the last one by: .*never"
    ):
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


@pytest.mark.parametrize("comes", [True, False])
def test_a_trial_that_is_shared_comes_with_its_setup(folder: Path, comes: bool) -> None:
    """The other search came with benchsuite, or is in the folder; the other file has trials of another setup alone."""
    rewrite(folder, "parts.end", 'printed = ["tau_min", "tau_max", "periods"]\nparts.end')
    searches = {regime: plan(regime=regime).subjects[0] for regime in ("tuned", "printed")}
    shipped, other = file_of([searches["tuned"]]), file_of([method_subjects("infonce", "vectors", {})[0]])
    files = [other.model_copy(update={"setups": {}}), shipped]
    trials = Trials(*(files if comes else reversed(files)))
    shared = trials.shared([searches["printed"]])
    assert shared is not None
    assert [(trial.regime, trial.number) for trial in shared.trials] == [("printed", 0), ("printed", 1), ("printed", 2)]
    assert {trial.setup_id for trial in shared.trials} <= shared.setups.keys()


def test_trials_on_other_data_are_of_another_search(folder: Path) -> None:
    """A setup's identity leaves out the digest where each replicate has data of its own."""
    (subject, *_) = plan().subjects
    there = file_of([subject])
    assert len(Trials(there).of(subject)) == 3
    data = subject.setup.data.model_copy(update={"digest": "0" * 16})
    other = replace(subject, setup=subject.setup.model_copy(update={"data": data}))
    assert other.setup.setup_id == subject.setup.setup_id
    assert Trials(there).of(other) == []
    both = file_of([other]).joined(there)
    assert (len(both.trials), len(Trials(both).of(other)), len(Trials(both).of(subject))) == (6, 3, 3)


@pytest.mark.parametrize("table", ["mm-ts/table2", "mm-ts/table5"])
def test_a_row_is_searched_on_the_clusters_that_it_is_run_with(table: str) -> None:
    planned = plan_table(table, "latents", [0], trials=Trials(None), regime="tuned")
    runs = {(run.setup.setup_id, run.method.name): run.setup for run in planned.runs}
    searched = {subject.setup.model_dump_json(include={"clusters"}) for subject in planned.subjects}
    assert searched == {setup.model_dump_json(include={"clusters"}) for setup in runs.values()}
