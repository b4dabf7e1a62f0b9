"""docs/formats.md names the keys that the schemas have, and no other ones."""

import re
from pathlib import Path

import pytest

from benchsuite.gate.regress import Expectations, Expected
from benchsuite.gate.scores import Scores
from benchsuite.papers import questions
from benchsuite.papers import schema as papers
from benchsuite.parts import Part
from benchsuite.records.requests import AddedRow, TableRequest
from benchsuite.records.schema import MethodPart, Record, Result, Sidecar, TunedBy
from benchsuite.records.trials import Trial
from benchsuite.verify.manifest import FolderManifest

PAGE = (Path(__file__).parents[1] / "docs" / "formats.md").read_text("utf-8")
SECTIONS = {heading: text for heading, _, text in (part.partition("\n") for part in PAGE.split("\n## ")[1:])}
TABLE = (
    papers.Table,
    papers.Column,
    papers.TablePart,
    papers.Row,
    papers.PublishedCell,
    questions.TextClaim,
    questions.Premise,
    papers.Plot,
)
SCHEMAS: dict[str, tuple[type[Part], ...]] = {
    "Run record, schema 1": (Record, MethodPart, Result, Sidecar, TunedBy),
    "Request, format 2": (TableRequest, AddedRow),
    "Manifest, format 2": (FolderManifest,),
    "Table, format 1": TABLE,
    "Trials, format 2": (Trial,),
}


def keys(schema: type[Part]) -> set[str]:
    """The keys of a schema, as a file has them."""
    return {field.alias or name for name, field in schema.model_fields.items()}


@pytest.mark.parametrize("heading", SCHEMAS)
def test_every_key_is_documented(heading: str) -> None:
    documented = set(re.findall(r"`([^`]+)`", SECTIONS[heading]))
    assert set().union(*map(keys, SCHEMAS[heading])) <= documented


@pytest.mark.parametrize("heading", [name for name in SCHEMAS if name != "Trials, format 2"])
def test_the_table_of_keys_has_no_other_keys(heading: str) -> None:
    first_cells = re.findall(r"^\| (`.*?) \|", SECTIONS[heading], re.M)
    assert set(re.findall(r"`([^`]+)`", " ".join(first_cells))) == keys(SCHEMAS[heading][0])


@pytest.mark.parametrize(
    ("heading", "models"),
    [("Expectations of the regression gate, format 2", (Expectations, Expected)), ("Scores, format 1", (Scores,))],
)
def test_what_regress_stores_is_documented(heading: str, models: tuple[type[Part], ...]) -> None:
    assert set(re.findall(r"^\| `(\w+)`", SECTIONS[heading], re.M)) == set().union(*map(keys, models))
