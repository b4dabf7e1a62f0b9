"""A page for each paper, from the files of its tables."""

from benchsuite.papers import Row, Table, paper_names, read_table, table_names
from benchsuite.papers.claim import claims_of
from benchsuite.planning.recipe import read_recipe
from generate.methods import anchor
from generate.words import contents, page, plain, shell, table


def pages() -> dict[str, str]:
    """One for each paper, and their list."""
    found = {paper: _tables(paper) for paper in paper_names()}
    made = {f"papers/{paper}": page(*_paper(paper, tables)) for paper, tables in found.items()}
    rows = [(f"[{paper}](papers/{paper}.md)", _source(tables), str(len(tables))) for paper, tables in found.items()]
    listed = ["# Papers and their tables", "", *table(("paper", "source", "tables"), rows)]
    return made | {"papers": page(*listed, *contents(f"papers/{paper}" for paper in found))}


def _tables(paper: str) -> list[Table]:
    return [read_table(name) for name in table_names() if name.partition("/")[0] == paper]


def _source(tables: list[Table]) -> str:
    return plain(next((t.source for t in tables if t.source), ""))


def _paper(paper: str, tables: list[Table]) -> list[str]:
    lines = [f"# {paper}", "", _source(tables), ""]
    lines += ["All tables, at the smallest scale; each table has its own command below:", ""]
    lines += shell(f"benchsuite repro {paper} --scale smoke --dry-run")
    for t in tables:
        lines += _table(t)
    return lines


def _table(t: Table) -> list[str]:
    claims = claims_of(t)
    headlines = [claim for claim in claims if claim.headline]
    scales = [
        (f"`{scale}`", f"`{recipe}`", plain(read_recipe(recipe).title), str(read_recipe(recipe).seeds))
        for scale, recipe in t.recipes.items()
    ]
    first = "small" if "small" in t.recipes else next(iter(t.recipes))
    return [
        f"({anchor(t.name)})=", f"## {t.name}", "", f"{plain(t.title)}. {plain(t.locator)}.", "",
        *shell(f"benchsuite repro {t.name} --scale {first} --dry-run"),
        *table(("scale", "recipe", "data", "seeds"), scales),
        *table(("row", "backbone", "method"), [(plain(row.label), plain(row.backbone), _how(row)) for row in t.rows]),
        f"{len(claims)} claims, {len(headlines)} of them headline claims{':' if headlines else '.'}", "",
        *(f"- {plain(claim.statement or claim.name)} ({plain(claim.column.name)})" for claim in headlines), "",
        *(f"- Note: {plain(note)}" for note in t.notes), "",
    ]  # fmt: skip


def _how(row: Row) -> str:
    return f"[`{row.method}`](../methods/{row.method}.md)" if row.method else f"not run: {plain(row.not_run)}"
