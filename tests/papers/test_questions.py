"""What table files ask of runs: headline claims, premises, and what stays as printed, against cells and methods."""

import re

import pytest

from benchsuite.fields import temperatures
from benchsuite.gate.regress import read_expectations
from benchsuite.papers import Column, Row, Table, paper_names, read_table, table_names
from benchsuite.papers.claim import claims_of
from benchsuite.papers.questions import HEADLINES, Premise, TextClaim
from benchsuite.planning.recipe import read_recipe
from benchsuite.planning.search_space import fixed_by, space
from benchsuite.registry import methods

TABLES = {name: read_table(name) for name in table_names()}
PREMISES = [(table, premise) for table in TABLES.values() for premise in table.premises]
PLACE = re.compile(r"\b(abstract|introduction|section [0-9]+|appendix [a-z]|conclusion|caption)\b", re.I)
RANK = re.compile(r"_r(\d+)$|(?:^|_)top(\d+)$")
EXPECTED = read_expectations()
FROM_THE_LOOP = {"gap"}
AT_GIVEN_VALUES = {
    "dystress/figure6",
    "dystress/table11",
    "mm-ts/table4",
    "mm-ts/table7",
    "mm-ts/table9",
    "modality-gap/table2",
    "modality-gap/table3",
    "modality-gap/table4",
}
"""Tables that compare temperatures, margins or their schedules themselves, those of the plain loss included."""


def rank_of(column: Column) -> int | None:
    """The k of R@k or Top-k that measures it."""
    measure = column.measure if isinstance(column.measure, str) else next(iter(column.measure.values()))
    found = RANK.search(measure.rpartition(".")[2])
    return int(found[1] or found[2]) if found else None


def primary_rank(table: Table, column: Column) -> int | None:
    """Ten, or the most that the table has, for retrieval; one for classification."""
    protocol = str(column.measure).rpartition(".")[0]
    ranks = {rank_of(c) for c in table.columns if str(c.measure).rpartition(".")[0] == protocol} - {None}
    is_retrieval = protocol.startswith("retrieval")
    return (max if is_retrieval else min)(filter(None, ranks)) if rank_of(column) else None


@pytest.mark.parametrize("name", TABLES)
def test_a_table_whose_text_claims_something_has_headlines_from_the_paper(name: str) -> None:
    claims = [claim for claim in TABLES[name].claims if claim.headline]
    assert bool(claims) == bool(TABLES[name].claims)
    assert len(claims) <= HEADLINES
    assert [claim.locator for claim in TABLES[name].claims if not PLACE.search(claim.locator)] == []


@pytest.mark.parametrize("name", TABLES)
def test_a_headline_is_on_the_primary_measure_of_its_task(name: str) -> None:
    columns = [TABLES[name].column(claim.headline) for claim in TABLES[name].claims if claim.headline]
    assert [c.key for c in columns if c.better == "neither" or rank_of(c) != primary_rank(TABLES[name], c)] == []


@pytest.mark.parametrize("name", TABLES)
def test_no_two_headlines_of_a_table_are_one_comparison(name: str) -> None:
    table = TABLES[name]
    headlines = [(table.row(c.row).key, table.row(c.reference).key, c.headline) for c in table.claims if c.headline]
    compared = [(frozenset((row, reference)), column) for row, reference, column in headlines]
    assert len(set(compared)) == len(compared)
    assert all(methods_of(table, [end]) for c in table.claims if c.headline for end in (c.row, c.reference))


@pytest.mark.parametrize("paper", paper_names())
def test_ten_seeds_can_confirm_a_papers_first_headline(paper: str) -> None:
    family = sum(bool(claim.headline) for table in TABLES.values() if table.paper == paper for claim in table.claims)
    least_p = 2 / 2**10  # of a two-sided sign-flip test
    assert 0.05 / family > least_p


@pytest.mark.parametrize(("table", "premise"), PREMISES, ids=lambda part: getattr(part, "name", ""))
def test_a_premise_is_of_claims_that_there_are(table: Table, premise: Premise) -> None:
    concerned = {table.row(row).key for row in premise.concerns}
    claims = [c for c in claims_of(table) if not concerned or concerned & {c.row, c.reference}]
    assert [c for c in claims if not premise.columns or c.column.key in premise.columns]


@pytest.mark.parametrize(("table", "premise"), PREMISES, ids=lambda part: getattr(part, "name", ""))
def test_a_premise_holds_in_the_paper_where_it_prints_the_number(table: Table, premise: Premise) -> None:
    cells = [table.row(row).published.get(premise.column) for row in premise.rows]
    low, high = premise.at_least or float("-inf"), premise.at_most or float("inf")
    assert [cell.value for cell in cells if cell and not low <= cell.value <= high] == []
    assert all(methods_of(table, [row]) for row in premise.rows)


@pytest.mark.parametrize(("table", "premise"), PREMISES, ids=lambda part: getattr(part, "name", ""))
def test_methods_show_the_gauges_of_premises(table: Table, premise: Premise) -> None:
    for method in methods_of(table, premise.rows):
        shown = {name for values in EXPECTED.methods[method].arithmetic.values() for name in values} | FROM_THE_LOOP
        assert {premise.gauge, premise.per} - {""} <= shown, method


@pytest.mark.parametrize("name", TABLES)
def test_what_stays_as_printed_are_hyper_parameters_of_the_rows(name: str) -> None:
    fields = {field.name for method in methods_of(TABLES[name]) for field in methods.card(method).fields}
    assert set(TABLES[name].printed) <= fields


@pytest.mark.parametrize("name", TABLES)
def test_a_headline_that_a_temperature_sets_is_compared_at_temperatures_that_no_search_draws(name: str) -> None:
    """Gap, uniformity and similarities follow from the temperature, and a search chooses it for another measure."""
    table = TABLES[name]
    for claim in table.claims:
        if claim.headline and set_by_a_temperature(table, claim):
            for row in (table.row(claim.row), table.row(claim.reference)):
                assert not drawn_temperatures(table, claim, row), f"{claim.statement}: {row.name}"


def test_the_temperature_of_a_headlines_baseline_is_tuned() -> None:
    """Else a gain over a temperature that nobody searched would be one "at given values", and not of tuning."""
    kept = set()
    for name, table in TABLES.items():
        for claim in (c for c in table.claims if c.headline and not set_by_a_temperature(table, c)):
            row, reference = table.row(claim.row), table.row(claim.reference)
            has_one = reference.method and temperatures(methods.get(reference.method))
            if has_one and row.method != reference.method and not drawn_temperatures(table, claim, reference):
                kept.add(name)
    assert kept == AT_GIVEN_VALUES


def set_by_a_temperature(table: Table, claim: TextClaim) -> bool:
    return "geometry" in str(table.column(claim.headline).measure)


def drawn_temperatures(table: Table, claim: TextClaim, row: Row) -> set[str]:
    """The temperatures of a row that its search draws where rows are tuned."""
    rule, part = read_recipe("latents-pairs").tuning, table.all_parts[table.column(claim.headline).part]
    assert rule
    assert row.method
    drawn = space(methods.card(row.method), 8, fixed_by(table, row, part, rule, "tuned"))
    return {each.name for each in drawn} & set(temperatures(methods.get(row.method)))


@pytest.mark.parametrize("name", TABLES)
def test_where_a_temperature_varies_no_temperature_of_the_method_is_tuned(name: str) -> None:
    table = TABLES[name]
    for method in methods_of(table):
        of_method, varied = set(temperatures(methods.get(method))), varied_in(table, method)
        kept = of_method & ((varied - {*table.searched}) | {*table.printed})
        assert kept in (set(), of_method), f"{method}: {of_method - kept} would be tuned"


def methods_of(table: Table, selectors: list[str] | None = None) -> set[str]:
    rows = table.rows if selectors is None else [table.row(selector) for selector in selectors]
    return {row.method for row in rows if row.method}


def varied_in(table: Table, method: str) -> set[str]:
    """Hyper-parameters that differ among a method's rows, or parts of the table, where absent ones are the defaults."""
    defaults = {field.name: field.default for field in methods.card(method).fields}
    rows = [row.options(part) for row in table.rows if row.method == method for part in table.all_parts.values()]
    return {name for name in defaults if len({repr(row.get(name, defaults[name])) for row in rows}) > 1}
