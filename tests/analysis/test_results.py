from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scipy import stats
from support.made_records import MakeRecord
from support.made_trials import trials_file, trials_of
from support.measured import HIGH, LOW, fill
from support.planned import request_of

import benchsuite
from benchsuite.analysis.boards import Board, boards, paired
from benchsuite.analysis.building import build_views
from benchsuite.analysis.table_view import TableView
from benchsuite.errors import UsageError
from benchsuite.records.schema import Record, Result
from benchsuite.records.store import Store
from benchsuite.records.trials import TRIALS, write_trials

VALUES = {"InfoNCE": LOW, "TeMo": HIGH, "Cosine schedule": (0.105, 0.115, 0.125, 0.125), "SogCLR": (0.29, 0.32, 0.325)}
KEY = ["run_id", "protocol", "metric"]


@pytest.fixture
def folder(tmp_path: Path, make_record: MakeRecord) -> Path:
    """With the number that stands for retrieval on boards, and a measure that is no metric."""

    def make(*arguments: int, results: dict[str, Result] | None = None, **changes: Any) -> tuple[Record, bytes]:
        if results is None:
            return make_record(*arguments, **changes)
        metrics = {**results["retrieval"].metrics, "r_mean": results["retrieval"].metrics["t2i_r1"]}
        measures = {"median_rank": 10 * metrics["t2i_r1"]}
        retrieval = results["retrieval"].model_copy(update={"metrics": metrics, "measures": measures})
        return make_record(*arguments, results={**results, "retrieval": retrieval}, **changes)

    return fill(tmp_path / "runs", make, VALUES)


@pytest.fixture
def view(folder: Path) -> TableView:
    (view,), skipped = build_views(Store(folder).read())
    assert not skipped
    return view


def ranks_by_hand(values: pd.DataFrame, higher: bool = True) -> dict[str, int]:
    """By column of values [seeds, rows]: 1 + the rows that are significantly better, by scipy's t and Holm's steps."""
    tests = []
    for a, b in combinations(values.columns, 2):
        both = values[[a, b]].dropna()
        if len(both) >= 3:
            p = stats.ttest_rel(both[a], both[b]).pvalue
            loser = b if (both[a].mean() > both[b].mean()) == higher else a
            tests.append((p, loser))
    ranks = dict.fromkeys(values.columns, 1)
    for number, (p, loser) in enumerate(sorted(tests)):
        if p * (len(tests) - number) > 0.05:
            break
        ranks[loser] += 1
    return ranks


def board_of(folder: Path) -> Board:
    (board,) = boards(Store(folder).read().records.values())
    return board


def test_every_number_of_every_run_is_there_once(folder: Path) -> None:
    results = benchsuite.load_results(folder)
    stored = {
        (record.run_id, protocol, name): value
        for record in Store(folder).read().records.values()
        for protocol, result in record.results.items()
        for name, value in {**result.metrics, **result.measures}.items()
    }
    assert {name for _, _, name in stored} == {"t2i_r1", "i2t_r1", "t2i_r10", "r_mean", "median_rank"}
    assert set(results[results.metric == "median_rank"].kind) == {"measure"}
    assert not results.duplicated(KEY).any()
    assert {tuple(row[:3]): row[3] for row in results[[*KEY, "value"]].itertuples(index=False)} == stored


def test_each_row_has_what_identifies_its_run(folder: Path) -> None:
    runs = benchsuite.load_results(folder).drop_duplicates("run_id").set_index("run_id")
    for run_id, record in Store(folder).read().records.items():
        method, row = record.method, runs.loc[run_id]
        assert (row.seed, row.method, row.method_title) == (record.seed, method.name, method.title)
        assert (row.method_id, row.setup_id, row.created) == (record.method_id, record.setup_id, record.created)
        assert (row.seconds, row.batches) == (record.cost["seconds"], record.digests["batches"])


def test_a_board_can_be_computed_from_the_data_frame_alone(folder: Path) -> None:
    """Means, the order of ranks, and paired differences."""
    board, results = board_of(folder), benchsuite.load_results(folder).drop_duplicates(KEY)
    assert (len(board.rows), [task.metric for task in board.tasks]) == (4, ["r_mean"])
    for task in board.tasks:
        of_task = results[(results.setup_id == board.setup_id) & (results.protocol == task.protocol)]
        values = of_task[of_task.metric == task.metric].pivot(index="seed", columns="method_id", values="value")
        assert set(values.columns) == {row.method_id for row in board.rows}
        for row in board.rows:
            cell = row.cell(task)
            assert (cell.mean, cell.sd) == pytest.approx((values[row.method_id].mean(), values[row.method_id].std()))
        ranks = ranks_by_hand(values, task.better == "higher")
        assert {row.method_id: (rank := board.rank(row, task)) and rank.rank for row in board.rows} == ranks
        assert max(ranks.values()) > 1
        for ours, theirs in combinations(board.rows, 2):
            difference = (values[ours.method_id] - values[theirs.method_id]).mean()
            assert paired(board, ours, theirs, task).difference == pytest.approx(difference)


def test_a_table_can_be_computed_from_the_data_frame_alone(folder: Path, view: TableView) -> None:
    results, table = benchsuite.load_results(folder), benchsuite.load_table("temo/table1", "small", folder)
    results["measure"] = results.protocol + "." + results.metric
    filled = table[table.n > 0]
    assert len(filled) == 8
    for cell in filled.itertuples():
        values = results[
            (results.table == cell.table) & (results.scale == cell.scale) & (results.backbone == cell.backbone)
            & (results.row == cell.row) & (results.measure == cell.measure)
        ].set_index("seed").value  # fmt: skip
        half = stats.t.ppf(0.975, len(values) - 1) * values.sem()
        by_hand = (values.mean(), values.std(), values.mean() - half, values.mean() + half)
        assert (cell.mean, cell.sd, cell.low, cell.high) == pytest.approx(by_hand)
        assert [getattr(cell, f"seed_{seed}") for seed in values.index] == values.tolist()
    for column, cells in filled.groupby("column"):
        by_row = cells.set_index("row").filter(like="seed_").T
        assert cells.set_index("row")["rank"].to_dict() == ranks_by_hand(by_row), column
        assert set(cells[cells.best].row) == {"TeMo", "SogCLR"}


def test_a_run_that_no_table_shows_has_its_numbers_and_no_table(folder: Path, make_record: MakeRecord) -> None:
    Store(folder).write(*make_record(7, recipe="mine"))
    alone = benchsuite.load_results(folder).query("seed == 7")
    assert len(alone) == len(list(make_record(7)[0].numbers()))
    assert alone[["paper", "table", "scale", "row"]].isna().all(axis=None)
    assert set(alone.recipe) == {"mine"}


def test_a_run_of_two_tables_stands_in_both(folder: Path) -> None:
    once = benchsuite.load_results(folder)
    Store(folder).add_request(request_of("temo/figure4", "small", ["RN50/InfoNCE"]))
    twice = benchsuite.load_results(folder)
    both = twice.groupby("run_id").table.unique().map(sorted)
    assert ["temo/figure4", "temo/table1"] in both.tolist()
    assert len(twice.drop_duplicates(KEY)) == len(once)


def test_hyperparameters_are_columns_of_their_own_type(tmp_path: Path, make_record: MakeRecord) -> None:
    store = Store(tmp_path / "runs")
    store.require_writable()
    given = [{"tau": 0.5, "sizes": [1, 2], "detach": True}, {"tau": 1, "state": "both"}]
    for seed, hyperparameters in enumerate(given):
        method = make_record()[0].method.model_copy(update={"hyperparameters": hyperparameters})
        store.write(*make_record(seed, method=method))
    first = benchsuite.load_results(store.folder).drop_duplicates("run_id").set_index("seed")
    assert first.hp_tau.tolist() == [0.5, 1.0]
    assert (first.hp_sizes[0], first.hp_state[1], first.hp_detach[0]) == ("[1, 2]", "both", True)
    assert first[["hp_sizes", "hp_detach"]].loc[1].isna().all()
    first.to_parquet(tmp_path / "all.parquet")
    assert pd.read_parquet(tmp_path / "all.parquet").hp_tau.tolist() == [0.5, 1.0]


def test_an_invalid_file_is_skipped_with_a_warning(folder: Path) -> None:
    broken = next(folder.glob("*.json"))
    broken.write_text("{}")
    with pytest.warns(UserWarning, match=f"skipped: .*{broken.name}"):
        results = benchsuite.load_results(folder)
    assert results.run_id.nunique() == 14


def test_a_record_without_a_number_lacks_that_cell_alone(view: TableView) -> None:
    (row, *_) = view.rows
    assert [cell.n for cell in row.cells[:2]] == [4, 4]
    assert {cell.n for cell in row.cells[2:]} == {0}
    assert row.measured == 4


@pytest.mark.parametrize(
    ("name", "scale", "says"),
    [
        ("temo/table2", "small", "temo/table2 is not in"),
        ("temo/table1", "smal", 'Did you mean "small"'),
        ("temo/table1", "gpu", "no results at scale gpu in .*, only at small. Choose one"),
    ],
)
def test_what_is_not_there_is_named_with_what_to_do(folder: Path, name: str, scale: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        benchsuite.load_table(name, scale, folder)
    with pytest.raises(UsageError, match="does not exist"):
        benchsuite.load_results(folder / "nowhere")


def test_trials_are_rows_with_what_was_drawn_as_columns(tmp_path: Path) -> None:
    temo = trials_of("temo", 0.5, count=3)
    temo[1] = temo[1].model_copy(update={"score": None, "error": "diverged"})
    temo[2] = temo[2].model_copy(update={"score": 0.9})
    write_trials(tmp_path / TRIALS / "latents-pairs.parquet", trials_file({}, more=[*temo, *trials_of("max-margin")]))
    found = benchsuite.load_trials(tmp_path)
    assert len(found) == 19
    one = found.query("method == 'temo'").set_index("number")
    assert one.hp_tau.tolist() == [trial.method.hyperparameters["tau"] for trial in temo]
    assert one.learning_rate.tolist() == [trial.method.learning_rate for trial in temo]
    assert one.score.isna().tolist() == [False, True, False]
    assert one.error[1] == "diverged"
    assert one.chosen.tolist() == [False, False, True]
    assert found.query("method == 'max-margin'").hp_tau.isna().all()


def test_the_best_of_one_search_is_not_chosen_in_another_that_has_the_same_run(tmp_path: Path) -> None:
    tuned = trials_of("temo", 0.5, count=3)
    scores = (0.1, 0.5, 0.9)
    tuned = [trial.model_copy(update={"score": score}) for trial, score in zip(tuned, scores, strict=True)]
    printed = [trial.model_copy(update={"regime": "printed"}) for trial in tuned[:2]]
    write_trials(tmp_path / TRIALS / "latents-pairs.parquet", trials_file({}, more=[*tuned, *printed]))
    found = benchsuite.load_trials(tmp_path).query("method == 'temo'")
    assert found.query("chosen").groupby("regime").number.apply(list).to_dict() == {"printed": [1], "tuned": [2]}


def test_a_folder_without_trials_gives_an_empty_frame_and_a_damaged_file_a_warning(tmp_path: Path) -> None:
    assert benchsuite.load_trials(tmp_path).empty
    (tmp_path / TRIALS).mkdir()
    (tmp_path / TRIALS / "r.parquet").write_bytes(b"nothing")
    with pytest.warns(UserWarning, match=r"r\.parquet: .*not a file of trials"):
        assert benchsuite.load_trials(tmp_path).empty
