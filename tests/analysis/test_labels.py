from collections.abc import Callable

from support.views import added, found, view_of

from benchsuite.analysis.labels import labels, recipes_of, temperatures, titles
from benchsuite.analysis.table_view import TableView
from benchsuite.papers import Table
from benchsuite.records.schema import Record, TunedBy

MakeRuns = Callable[..., dict[int, Record]]


def test_a_row_that_trained_longer_says_so_alone_too(make_runs: MakeRuns) -> None:
    assert labels([make_runs("infonce", longer=2.0)[0]]) == ["InfoNCE (steps=×2)"]


def test_several_are_told_apart_by_what_is_neither_default_nor_alike(make_runs: MakeRuns) -> None:
    settings = [{"periods": 2.0}, {"tau_max": 0.09, "periods": 2.0}, {"periods": 2.0, "tau_min": 0.1 + 0.2}]
    found = labels([make_runs("ts", hyperparameters=one)[0] for one in settings])
    assert found == ["TS", "TS (tau_max=0.09)", "TS (tau_min=0.3)"]


def test_temperatures_are_at_their_default_when_the_setup_multiplies_them(make_runs: MakeRuns) -> None:
    plain = make_runs()[0].setup
    setup = plain.model_copy(update={"temperature_factor": 5.0})
    runs = [make_runs("infonce", hyperparameters={"tau": tau}, setup=setup)[0] for tau in (0.05, 0.01)]
    assert labels(runs) == ["InfoNCE", "InfoNCE (tau=0.01)"]


def test_a_method_that_is_not_registered_shows_all_that_differs(make_runs: MakeRuns) -> None:
    many = list(range(200))
    settings = [{"warm": True, "sizes": many}, {"warm": False, "sizes": [1.0, 0.5]}]
    found = labels([make_runs("mine", hyperparameters=one)[0] for one in settings])
    assert found == ["mine (warm=true, sizes=[200 values])", "mine (warm=false, sizes=[1, 0.5])"]


def test_another_version_is_told_from_the_one_that_is_here(make_runs: MakeRuns) -> None:
    found = labels([make_runs("infonce")[0], make_runs("infonce", version=2)[0]])
    assert found == ["InfoNCE", "InfoNCE (method version=2)"]


def test_settings_that_look_alike_are_told_apart_by_identity(make_runs: MakeRuns) -> None:
    runs = [make_runs("infonce", hyperparameters={"tau": tau})[0] for tau in (0.3, 0.3 + 1e-9)]
    found = labels(runs)
    assert found == [f"InfoNCE (tau=0.3), infonce, {run.method_id[:8]}" for run in runs]


def shown(make: MakeRuns, *rows: tuple[str, str, str, str], recipe: str = "scenes-small") -> TableView:
    """A table with rows of backbone, variant, part and setup_id."""
    column = {"key": "a", "group": "", "label": "", "measure": "retrieval.r_mean"}
    table = Table.model_validate(
        {"file_format": 1, "paper": "p", "table": "t", "locator": "", "title": "", "recipes": {"small": recipe},
         "columns": [{**column, "part": rows[0][2]}], "parts": {rows[0][2]: {}} if rows[0][2] else {},
         "rows": [{"label": "x", "backbone": "B", "method": "infonce", "published": {"a": 1}}]}
    )  # fmt: skip
    made = [
        found(added(f"{number}", backbone, variant=variant), {part: {0: record(make, setup_id)}})
        for number, (backbone, variant, part, setup_id) in enumerate(rows)
    ]
    return view_of(table, made, name=recipe)


def record(make: MakeRuns, setup_id: str) -> Record:
    return make()[0].model_copy(update={"setup_id": setup_id})


def test_a_setup_is_called_as_tables_asked_for_it(make_runs: MakeRuns) -> None:
    setup = make_runs()[0].setup
    found = titles(
        dict.fromkeys("abc", setup),
        [
            shown(make_runs, ("RN50", "AdamW", "", "a"), ("RN50", "", "", "a"), ("ViT", "CC12M", "", "b")),
            shown(make_runs, ("X", "", "p", "c")),
        ],
    )
    assert found == {
        "a": "scenes-small, timm test_resnet", "b": "scenes-small, ViT, CC12M", "c": "scenes-small, X, p",
    }  # fmt: skip


def test_what_no_table_asked_for_is_called_by_data_and_towers(make_runs: MakeRuns) -> None:
    setup = make_runs()[0].setup
    assert titles({"s": setup}, []) == {"s": "scenes, test_vit, distilbert"}
    assert titles({"s": setup.model_copy(update={"text": None})}, []) == {"s": "scenes, test_vit"}


def test_a_recipe_that_records_name_takes_the_place_of_the_data(make_runs: MakeRuns) -> None:
    records = [run for name in ("b", "", "a") for run in make_runs(recipe=name).values()]
    recipes = recipes_of(records)
    assert recipes == {records[0].setup_id: "a"}
    assert titles({records[0].setup_id: records[0].setup}, [], recipes).popitem()[1] == "a, test_vit, distilbert"


def test_setups_of_one_recipe_are_told_apart_by_the_options_of_their_data(make_runs: MakeRuns) -> None:
    setup = make_runs()[0].setup
    options: list[dict[str, object]] = [{"noise": 0, "caption": "title"}, {"noise": 0, "caption": "text"}, {"noise": 0}]
    data = [setup.data.model_copy(update={"options": one}) for one in options]
    setups = {name: setup.model_copy(update={"data": one}) for name, one in zip("abc", data, strict=True)}
    found = titles(setups, [], dict.fromkeys("abc", "r"))
    assert list(found.values()) == [
        "r, test_vit, distilbert, caption=title", "r, test_vit, distilbert, caption=text", "r, test_vit, distilbert",
    ]  # fmt: skip


def test_no_two_setups_have_one_title(make_runs: MakeRuns) -> None:
    found = titles(
        dict.fromkeys(["1234567890", "abcdefghij", "other"], make_runs()[0].setup),
        [shown(make_runs, ("A", "", "", "other"))],
    )
    assert list(found.values()) == [
        "scenes, test_vit, distilbert, 12345678", "scenes, test_vit, distilbert, abcdefgh", "scenes-small, A",
    ]  # fmt: skip


def test_rows_of_a_method_are_told_apart_by_rate_length_and_tuning(make_runs: MakeRuns) -> None:
    tuned = TunedBy(trials=16, trial=7, score=0.5, digest="d", searched=["tau"])
    rate = tuned.model_copy(update={"trials": 5, "searched": []})
    changes: list[dict[str, object]] = [
        {},
        {"learning_rate": 0.002},
        {"learning_rate": 0.002, "tuned": tuned},
        {"learning_rate": 0.004, "tuned": rate},
        {"longer": 2.0},
    ]
    found = labels([make_runs("infonce", **one)[0] for one in changes])
    assert found == [
        "InfoNCE",
        "InfoNCE (learning rate=0.002)",
        "InfoNCE (tuned=16 trials)",
        "InfoNCE (rate=5 trials)",
        "InfoNCE (steps=×2)",
    ]


def test_temperatures_are_those_of_the_fields_and_without_fields_what_is_called_so(make_runs: MakeRuns) -> None:
    values = {"tau_min": 0.01, "tau_max": 0.05, "periods": 2.0}
    assert temperatures(make_runs("ts", hyperparameters=values)[0].method) == {"tau_min": 0.01, "tau_max": 0.05}
    assert temperatures(make_runs("mine", hyperparameters={"tau": 1, "tau_name": "log", "width": 2})[0].method) == {
        "tau": 1.0
    }
