"""What a page says of itself: to previews of links in a sentence, of a table as a dataset."""

import json
import re
from html import unescape

import pytest
from support.html_pages import pages
from support.made_results import NAME, write_results

from benchsuite.analysis.building import build_views
from benchsuite.cli.report import items_of
from benchsuite.cli.report import leaderboard as read_leaderboard
from benchsuite.records.store import Store
from benchsuite.report.site import downloads
from benchsuite.report.summaries import LONGEST

TABLE = "tables/temo-table1-small"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The pages of a folder with everything in it, by name."""
    folder = tmp_path_factory.mktemp("made")
    write_results(folder)
    contents = Store(folder).read()
    views, left_out = build_views(contents, items_of(folder))
    return pages(read_leaderboard(folder, contents, views, left_out))


def said(page: str, name: str) -> str:
    (text,) = re.findall(rf'<meta (?:name|property)="{name}" content="([^"]*)">', page)
    return unescape(text)


def test_every_page_has_a_sentence_of_its_own(made: dict[str, str]) -> None:
    sentences = {name: said(page, "description") for name, page in made.items()}
    assert all(0 < len(text) <= LONGEST for text in sentences.values())
    assert all(said(page, "og:description") == sentences[name] for name, page in made.items())
    assert len(set(sentences.values())) > 0.9 * len(sentences)


def test_a_sentence_has_the_answer_of_its_page(made: dict[str, str]) -> None:
    assert re.search(r"Headline claims: \d+ \w+", said(made["index"], "description"))
    assert re.search(r": 4 seeds\. Claims, tested partly on stand-ins: \d+ \w+", said(made[TABLE], "description"))
    assert re.search(
        r"^TeMo against InfoNCE on 3 boards, first measure: \d+ better", said(made["methods/temo"], "description")
    )
    assert re.search(
        r", against InfoNCE: \d+ ", "".join(said(p, "description") for n, p in made.items() if n[:7] == "compare")
    )


def test_a_table_is_described_as_a_dataset_with_its_files(made: dict[str, str]) -> None:
    (data,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', made[TABLE])
    told = json.loads(data)
    assert (told["@context"], told["@type"]) == ("https://schema.org/", "Dataset")
    assert 50 <= len(told["description"]) <= 5000
    assert "MSCOCO IR@1" in told["variableMeasured"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", told["dateModified"])
    assert {one["contentUrl"] for one in told["distribution"]} == {
        f"temo-table1-small.{ending}" for ending in ("csv", "json", "tex", "md")
    }


def test_only_tables_are_datasets(made: dict[str, str]) -> None:
    for name, page in made.items():
        assert ("application/ld+json" in page) == name.startswith("tables/")


def test_names_that_would_do_harm_are_text_in_what_a_page_says_of_itself(made: dict[str, str]) -> None:
    for page in made.values():
        head = page.partition("</head>")[0]
        assert NAME not in head
        assert len(re.findall(r"<script", head)) == 2 + head.count("application/ld+json")


def test_the_files_of_a_dataset_lie_beside_its_page(made: dict[str, str]) -> None:
    told = json.loads(re.findall(r"ld\+json\">(.*?)</script>", made[TABLE])[0])
    names = {one["contentUrl"] for one in told["distribution"]}
    written = downloads(TABLE, {"exports": dict.fromkeys(("csv", "json", "latex", "md"), "")})
    assert {name.rpartition("/")[2] for name in written} == names
