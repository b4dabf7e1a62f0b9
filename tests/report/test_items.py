"""Single queries of a table, and the page of a track: what is told of test items, and of how much numbers vary."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import stdev
from typing import Any

import numpy as np
import pytest
from support import claimed
from support.html_pages import Reading, pages
from support.html_pages import leaderboard as board_of
from support.views import found, view_of

from benchsuite.planning.recipe import Primary
from benchsuite.records.ranks import pack_ranks
from benchsuite.records.record_file import FileError, RecordFile
from benchsuite.records.schema import Record
from benchsuite.registry import datasets
from benchsuite.report import items
from benchsuite.report.leaderboard import Leaderboard
from benchsuite.report.links import Links
from benchsuite.report.pages import all_pages
from benchsuite.report.render import render
from benchsuite.report.site import write_site
from benchsuite.setup import Data

MakeRecord = Callable[..., tuple[Record, bytes]]
RANKS = {"ours": (1, 1, 3, 9, 1), "old": (1, 4, 2, 1, 20)}
"""Of the first queries under each row; all others are found by neither."""
WRONG = {"ours": 7, "old": 9}
"""So many places behind a query is the nearest wrong answer, where that is known."""
EMOJI = datasets.get("emoji-features")()
KNOWN = [
    (items.Shown(what, picture), caption)
    for picture, (what, caption) in zip(EMOJI.in_pictures("test"), EMOJI.in_words("test"), strict=True)
]
"""As pages show them."""


@pytest.fixture
def board(make_record: MakeRecord, tmp_path: Path) -> Callable[..., Leaderboard]:
    """Of two rows with two seeds on the emoji, ranks beside the records."""

    def make(
        digest: str = EMOJI.manifest().digest,
        nearest: bool = False,
        options: Mapping[str, Any] = {},
        split: str = "test",
        elsewhere: Data | None = None,
    ) -> Leaderboard:
        rows, files = [], []
        for row in claimed.TWO:
            runs = {}
            for seed in (0, 1):
                record = make_record(seed)[0]
                used = {"name": "emoji-features", "options": options, "digest": digest}
                data = record.setup.data.model_copy(update=used)
                asked = {"options": {"split": split}, "data": elsewhere}
                retrieval = record.setup.protocols["retrieval"].model_copy(update=asked)
                setup = record.setup.model_copy(update={"data": data, "protocols": {"retrieval": retrieval}})
                ranks = np.full(1600, 50)
                ranks[:5] = RANKS[row["label"]]
                wrong = [("retrieval.i2t_nearest", 1 + (np.arange(1600) + WRONG[row["label"]]) % 1600)] * nearest
                content, sidecar = pack_ranks(f"{row['label']}-{seed}", [("retrieval.i2t", ranks), *wrong])
                (tmp_path / sidecar.file).write_bytes(content)
                update = {"run_id": f"{row['label']}{seed}", "setup": setup, "ranks": sidecar}
                runs[seed] = record.model_copy(update=update)
                files.append(RecordFile(tmp_path / "record.json", runs[seed]))
            rows.append(found(claimed.table(row).rows[0], runs))
        made = board_of([view_of(claimed.claimed(*claimed.TWO), rows, {"a": "retrieval.i2t_r1"})])
        return replace(made, contents=replace(made.contents, files=files))

    return make


def words(page: str) -> str:
    """Without tags, and what a picture shows in its place."""
    page = re.sub('<img [^>]*alt="([^"]*)">', r"\1", page)
    return " ".join(re.sub("<[^>]+>", " ", page).split())


def told(board: Leaderboard) -> Mapping[str, Any]:
    return items.values(board, board.views)


def test_a_recall_is_counted_query_by_query(board: Callable[..., Leaderboard]) -> None:
    (single,) = told(board())["singles"]
    assert (single.names, single.queries, single.seed) == (("ours", "old"), 1600, 0)
    assert list(single.counts) == [(seed, 1, 2, 1, 1596) for seed in (0, 1)]
    first, second = single.alone
    assert first == [(*KNOWN[n], ("1", None), (rank, None)) for n, rank in ((1, "4"), (4, "20"))]
    assert second == [(*KNOWN[3], ("9", None), ("1", None))]
    asked = replace(single, images_ask=False).alone[1]
    assert asked == [(*reversed(KNOWN[3]), ("9", None), ("1", None))], "a caption asks"


def test_queries_of_other_data_than_a_run_was_trained_for_are_not_told_as_its_own(
    board: Callable[..., Leaderboard],
) -> None:
    made = board(elsewhere=Data(name="icons-features"), split="of-icons")
    assert "items/p-t-small" not in pages(made)
    assert "tracks/small" in pages(made), "a split that the run's data lack"


def test_seeds_whose_runs_may_not_be_paired_are_left_out(board: Callable[..., Leaderboard]) -> None:
    made = board()
    (view,) = made.views
    (first, *others) = view.rows
    other = [
        r.model_copy(update={"digests": {**r.digests, "batches": "others"}}) if r.seed == 1 else r
        for r in first.records
    ]
    cells = [replace(cell, records={r.seed: r for r in other}) for cell in first.cells]
    apart = replace(view, rows=[replace(first, records=other, cells=cells), *others])
    (single,) = items.values(replace(made, views=[apart]), [apart])["singles"]
    assert [*single.found] == [0]


def test_what_was_retrieved_first_is_told_where_records_know_it(board: Callable[..., Leaderboard]) -> None:
    (single,) = told(made := board(nearest=True))["singles"]
    assert single.alone[1] == [(*KNOWN[3], ("9", KNOWN[10][::-1]), ("1", KNOWN[12][::-1]))]
    assert replace(single, images_ask=False).alone[1][0].ours.wrong == KNOWN[10], "a caption finds a picture"
    ours, theirs = single.found[0]
    assert not replace(single, found={0: (ours, theirs._replace(nearest=None))}).knows_first, "one row's alone"
    text = words(pages(made)["items/p-t-small"])
    assert f"{KNOWN[3][1]} 9 {KNOWN[10][1]} {KNOWN[10][0].what} 1 the right answer" in text
    assert "First with ours" in text
    assert "First with ours" not in words(pages(board())["items/p-t-small"])


@pytest.mark.parametrize("most", [11, 1600])
def test_a_rank_beyond_those_that_are_stored_is_no_number(board: Callable[..., Leaderboard], most: int) -> None:
    (single,) = told(board())["singles"]
    capped = [np.minimum(np.where(each.ranks == 50, 3, each.ranks), most) for each in single.found[0]]
    beyond = replace(single, within=1, found={0: tuple(items.Retrieved(ranks, None) for ranks in capped)})
    found = [(query.ours.rank, query.theirs.rank) for query in beyond.alone[0]]
    assert found == [("1", "4"), ("1", "over 10")], "a whole file says the same"


@pytest.mark.parametrize("wrong", [[1601] * 1600, [0] * 1600, [1] * 1599], ids=["beyond", "before", "short"])
def test_a_file_that_names_no_item_is_named(
    board: Callable[..., Leaderboard], wrong: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = board(nearest=True)
    read = items.open_ranks

    def forged(*given: Any) -> Any:
        return {**read(*given), "retrieval.i2t_nearest": np.array(wrong)}

    monkeypatch.setattr(items, "open_ranks", forged)
    with pytest.raises(FileError, match=r"ranks.npz.xz: its ranks are not those of the 1,600 test items"):
        told(made)


def test_its_page_says_what_a_point_is_and_is_led_to(board: Callable[..., Leaderboard]) -> None:
    found = pages(board())
    text = words(found["items/p-t-small"])
    assert "With 1,600 queries, a difference of one point is 16 of them" in text
    assert f"{EMOJI.in_words('test')[4][1]} 1 20" in text
    assert "0 1 2 1 1596 +0.1" in text
    assert "ours and old on G R@1 B" in text
    for page in ("tables/p-t-small", "claims/p-small"):
        assert "../items/p-t-small.html" in Reading(found[page]).addresses


def test_examples_are_said_to_be_of_one_seed_in_one_regime(board: Callable[..., Leaderboard]) -> None:
    made = board()
    (printed,), (single,) = made.views, told(made)["singles"]
    tuned = replace(printed, asked=printed.asked.model_copy(update={"regime": "tuned"}))
    name = "items/p-t-small"
    every = {page.name: page for page in all_pages(replace(made, views=[printed, tuned]))}
    page = every[name]
    assert "tuned" in page.title
    assert "as printed" not in page.title
    worse = replace(single, found={**single.found, 1: single.found[1][::-1]})
    text = words(render(page.template, Links(name, every), title="", **{**page.values(), "singles": [worse]}))
    assert "of seed 0 alone, where the difference is +0.1 points. Its mean over 2 seeds is 0.0 points." in text


def test_items_of_other_data_are_not_told(board: Callable[..., Leaderboard]) -> None:
    for other in (board("0" * 16), board(options={"of another version": 1})):
        assert told(other)["singles"] == []
        assert "are not here" in pages(other)["items/p-t-small"]
        assert "test items" not in Reading(pages(other)["tracks/small"]).text
    assert "24 test items" in Reading(pages(board())["tracks/small"]).text


def test_joined_characters_of_an_emoji_stay_joined(board: Callable[..., Leaderboard]) -> None:
    joined = [shown for shown, _ in EMOJI.in_words("test")[:24] if "\N{ZERO WIDTH JOINER}" in shown]
    assert joined
    assert all(f'alt="{shown}"></span>' in pages(board())["tracks/small"] for shown in joined)


def test_an_item_is_its_picture_and_without_one_what_it_shows(board: Callable[..., Leaderboard]) -> None:
    made = board()
    name = "tracks/small"
    every = {page.name: page for page in all_pages(made)}
    links = Links(name, every)
    shown = [items.Shown('<"'), items.Shown('<"', b"of it")]
    values = {**every[name].values(), "items": [(one, ["a caption"]) for one in shown]}
    page = render(every[name].template, links, title="", **values)
    (file,) = links.pictures
    assert links.pictures[file] == b"of it"
    assert '<span class="item" aria-hidden="true">&lt;&#34;</span>' in page
    assert f'<img src="../{file}" width="28" height="28" alt="&lt;&#34;"></span>' in page


def test_a_site_has_each_picture_once_in_the_order_of_its_items(
    board: Callable[..., Leaderboard], tmp_path: Path
) -> None:
    folder = tmp_path / "site"
    write_site(folder, board(nearest=True))
    shown = {}
    for page in ("tracks/small", "items/p-t-small"):
        found = re.findall(r'src="\.\./(pictures/[^"]+)"', (folder / f"{page}.html").read_text("utf-8"))
        shown[page] = [(folder / file).read_bytes() for file in found]
    pictures = EMOJI.in_pictures("test")
    assert shown["tracks/small"] == list(pictures[:24])
    assert pictures[10] in shown["items/p-t-small"]
    written = [file.read_bytes() for file in (folder / "pictures").iterdir()]
    assert sorted(written) == sorted({one for several in shown.values() for one in several})


@pytest.mark.parametrize("differ", [True, False])
def test_a_track_says_how_much_rows_and_their_differences_vary(
    make_runs: Callable[..., dict[int, Record]], differ: bool
) -> None:
    values = {"old": (0.5, 0.6, 0.8), "ours": (0.51, 0.63, 0.81) if differ else (0.5, 0.6, 0.8)}
    table = claimed.claimed(claimed.TWO[0], {**claimed.TWO[1], "method": "temo"})
    rows = [found(row, make_runs(row.method, values[row.label])) for row in table.rows]
    primary = {"retrieval": Primary(metric="r_mean", difference=0.01)}
    shown = view_of(table, rows, {"a": "retrieval.i2t_r1"}, primary=primary)
    text = words(pages(board_of([shown]))["tracks/small"])
    low, high = sorted(100 * stdev(own) for own in values.values())
    apart = 100 * stdev(a - b for a, b in zip(values["ours"], values["old"], strict=True))
    wanted = f"{(low + high) / 2:.2f} ({low:.2f} to {high:.2f}) {apart:.2f} ({apart:.2f} to {apart:.2f}) 1.00"
    assert (wanted in text) == differ, "untrained towers do not differ"
    assert "Not known: there are no results on another track." in text


def test_of_data_that_are_not_included_items_of_included_ones_are_shown(make_record: MakeRecord) -> None:
    record = make_record()[0]
    data = record.setup.data.model_copy(update={"name": "emoji", "options": {}})
    runs = {0: record.model_copy(update={"setup": record.setup.model_copy(update={"data": data})})}
    table = claimed.claimed(*claimed.TWO)
    shown = view_of(table, [found(row, runs) for row in table.rows])
    page = Reading(pages(board_of([shown]))["tracks/small"])
    first = EMOJI.in_words("single")[0]
    assert "24 of the items" in page.text
    assert "24 test items" not in page.text
    assert first[1] in page.text
    assert "Licence of Emoji, features: Apache-2.0" in page.text
