"""The results of this repository: what is owed to those of whose work they say that it is worse."""

from pathlib import Path

import pytest

from benchsuite.analysis.building import build_tables
from benchsuite.analysis.judged_claims import judged_claims
from benchsuite.records.store import Store


@pytest.mark.slow
def test_each_verdict_against_a_method_says_what_was_looked_at() -> None:
    views, skipped = build_tables(Store(Path(__file__).parents[2] / "results").read())
    against = [one for view in views for one in judged_claims(view) if one.verdict.kind == "opposite"]
    assert not skipped
    assert against
    assert [f"{one.claim.table} at {one.scale}: {one.claim.name}" for one in against if not one.remark] == []
