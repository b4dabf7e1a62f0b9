"""How sensitive a method is, drawn from its tuning trials."""

from support.made_trials import RULE, trials_of

from benchsuite.records.trials import TrialsFile
from benchsuite.report.figures.from_table import sensitivity_figures
from benchsuite.report.figures.inline_svg import alt, svg


def test_each_trial_of_a_search_is_a_point_and_the_best_of_each_replicate_stands_out() -> None:
    first = [trial.model_copy(update={"score": 0.1 + 0.01 * trial.number}) for trial in trials_of("infonce")]
    second = [trial.model_copy(update={"replicate": 1, "score": 0.5 - 0.01 * trial.number}) for trial in first]
    failed = second[3].model_copy(update={"score": None, "error": "nan"})
    printed = [trial.model_copy(update={"regime": "printed", "score": 0.9}) for trial in first]
    trials = [*first, *second[:3], failed, *second[4:], *printed, *trials_of("temo")]
    file = TrialsFile(recipe="r", rule=RULE, setups={}, trials=trials)
    (figure,) = sensitivity_figures("infonce", {"r": file}, [])
    small, large = figure.series
    assert (small.part, len(small.x), large.part, large.seeds) == ("trial", 31, "best", [0, 1])
    assert large.y == [first[15].score, second[0].score]
    assert large.x == [first[15].method.hyperparameters["tau"], first[0].method.hyperparameters["tau"]]
    said = alt(figure)
    low, high = (f"{100 * score:.1f}%" for score in sorted(large.y))
    assert "31 trials; the best of each search (2 in all): tau from" in said
    assert said.endswith(f"Score from {low} to {high}."), "not of all trials, and no mean"
    assert f">{large.label}</text>" in svg(figure), "the legend names the tower"
    assert sensitivity_figures("cwcl", {"r": file}, []) == []


def test_a_search_that_did_not_draw_it_says_nothing_of_a_temperature() -> None:
    """As of a table that varies it: its rows keep the printed one, and search the rest."""
    drawn = [trial.model_copy(update={"score": 0.1 + 0.01 * trial.number}) for trial in trials_of("infonce")]
    fixed = [
        trial.model_copy(
            update={
                "replicate": 1,
                "fixed": {"tau": 0.5},
                "method": trial.method.model_copy(update={"hyperparameters": {"tau": 0.5}}),
            }
        )
        for trial in drawn
    ]
    (figure,) = sensitivity_figures(
        "infonce", {"r": TrialsFile(recipe="r", rule=RULE, setups={}, trials=[*drawn, *fixed])}, []
    )
    assert "the best of each of 1 searches that drew it" in figure.caption
    assert 0.5 not in {value for series in figure.series for value in series.x}
    assert sensitivity_figures("infonce", {"r": TrialsFile(recipe="r", rule=RULE, setups={}, trials=fixed)}, []) == []
