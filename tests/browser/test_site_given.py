"""Models that were evaluated as they were given stand below the boards with the same protocols, without a rank."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from made_results import GIVEN, MODEL

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

Open = Callable[..., "Page"]
CELLS = "rows => rows.map(row => [...row.cells].map(cell => cell.textContent.trim()))"


@pytest.fixture
def home(new_page: Open) -> "Page":
    return new_page("index")


def given(page: "Page") -> list["Locator"]:
    return page.locator("table", has=page.locator("caption", has_text="Not trained here")).all()


def test_a_model_stands_below_the_boards_that_share_a_protocol(home: "Page") -> None:
    tables = given(home)
    assert tables
    for table in tables:
        ((name, *cells),) = table.locator("tbody tr").evaluate_all(CELLS)
        tasks = [text.split("\n")[0] for text in table.locator("thead th.task").all_inner_texts()]
        assert name == MODEL
        assert cells[-3:] == ["other 1.0", "224", "e" * 64]
        shown = dict(zip(tasks, cells, strict=False))
        assert f"{100 * GIVEN:.1f}" in " ".join(shown.values()) or "99.0" in " ".join(shown.values())
        assert "98.0" not in " ".join(shown.values()), "a protocol with other options"
        assert "–" in shown.values(), "not evaluated"


def test_it_is_in_no_row_of_a_board_and_has_no_rank_though_it_scores_best(home: "Page") -> None:
    boards = home.locator("table.board[id^='board-']:not([id$='-given'])")
    assert boards.count() > 1
    assert MODEL not in " ".join(boards.all_text_contents())
    for table in given(home):
        assert "★" not in (table.text_content() or "")
        assert table.locator("thead th", has_text="Seeds").count() == 0
        board = table.get_attribute("id").removesuffix("-given")  # type: ignore[union-attr]
        above, below = (home.locator(f"[id='{name}']").bounding_box() for name in (board, f"{board}-given"))
        assert above
        assert below
        assert above["y"] + above["height"] <= below["y"]


def test_the_page_says_what_such_a_number_is_not(home: "Page") -> None:
    for table in given(home):
        note = table.locator("xpath=../preceding-sibling::p[1]")
        assert "not trained under this setup" in note.inner_text()
        assert note.is_visible()
