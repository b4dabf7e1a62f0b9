"""What `repro` says of a table's claims once it is measured."""

from dataclasses import replace

from support.claimed import HIGH, LOW, TWO, MakeRecord, claimed, row, view

from benchsuite.analysis.table_view import TableView
from benchsuite.cli.repro import verdict_lines


def measured(make: MakeRecord, regime: str, *labels: str) -> TableView:
    """A row of a user's own beside the table's, of which these were selected; the user's is added."""
    values = {"ours": HIGH, "old": LOW, "mine": HIGH}
    whole = view(make, claimed(*TWO, row("mine", 0)), {label: values[label] for label in labels}, regime=regime)
    return replace(whole, table=claimed(*TWO), rows=[each for each in whole.rows if each.label in labels])


def test_of_a_method_of_ones_own_the_verdict_is_said_and_of_rows_not_selected_nothing(make_record: MakeRecord) -> None:
    both = [measured(make_record, regime, "old", "mine") for regime in ("printed", "tuned")]
    printed, tuned = verdict_lines(both)
    assert printed.startswith("B/mine beats B/old on G R@1, as printed: +19.8 ± ")
    assert "paired: better (p " in tuned
    assert tuned.startswith("B/mine beats B/old on G R@1, tuned: ")
    assert [*verdict_lines(both[1:])] == [tuned]


def test_of_the_tables_own_claims_it_says_what_became_of_them(make_record: MakeRecord) -> None:
    both = [measured(make_record, regime, "old", "ours") for regime in ("printed", "tuned")]
    (became,) = verdict_lines(both)
    assert "B/ours beats B/old on G R@1: robust gain (" in became
    (alone,) = verdict_lines(both[:1])
    assert alone.startswith("B/ours beats B/old on G R@1, as printed: ")
