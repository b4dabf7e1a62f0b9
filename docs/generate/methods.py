"""A page for each method, from its card: the decorator, the docstring and the typed fields."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache

from benchsuite.cards import REQUIRED, Card
from benchsuite.papers import Row, Table, read_table, table_names
from benchsuite.registry import methods
from generate.words import contents, doc, equation, page, plain, prose, shell, table

SERVES = {"pair": "image-text pairs", "image": "images", "text": "texts"}
RECIPES = {"pair": "latents-pairs", "image": "latents-images", "text": "scenes-text-smoke"}
"""A recipe without any files, for each kind of training."""


def pages() -> dict[str, str]:
    """One for each built-in method, and their list."""
    cards = {name: card for name, card in methods.cards().items() if card.owner.startswith("benchsuite.")}
    made = {f"methods/{name}": page(*_method(card)) for name, card in cards.items()}
    rows = [(f"[`{name}`](methods/{name}.md)", prose(card.summary)) for name, card in cards.items()]
    listed = [
        "# Methods",
        "",
        f"{len(cards)} methods are built in. [Add a method](../add-a-method.md) says how to write one.",
        "",
    ]
    return made | {"methods": page(*listed, *table(("name", "what"), rows), *contents(f"methods/{n}" for n in cards))}


def anchor(name: str) -> str:
    """Where a table stands on its paper's page."""
    return name.replace("/", "-")


@cache
def tables_by_method() -> dict[str, list[tuple[Table, list[Row]]]]:
    """For each method the tables in which it stands, with its rows."""
    found: dict[str, list[tuple[Table, list[Row]]]] = defaultdict(list)
    for table_ in map(read_table, table_names()):
        rows: dict[str, list[Row]] = defaultdict(list)
        for row in table_.rows:
            if row.method:
                rows[row.method].append(row)
        for name, its in rows.items():
            found[name].append((table_, its))
    return found


def _method(card: Card) -> list[str]:
    about = card.about
    tables = tables_by_method().get(card.name, [])
    paper = f"`{about['paper']}` ([bibliography](../../bibliography.md))" if about.get("paper") else "none"
    facts = {
        "Paper": paper,
        "Trains on": ", ".join(SERVES[kind] for kind in _serves(card)),
        "Extra inputs": ", ".join(f"`{need}`" for need in about.get("needs", ())) or "none",
        "Module": f"`{card.module}`",
    }
    return [
        *(f"# {plain(card.title)}", "", f"The method `{card.name}`.", ""),
        *(equation(about["equation"]) if about.get("equation") else []),
        *doc(card.doc),
        *table(("", ""), list(facts.items())),
        *("## Hyper-parameters", "", *(_fields(card) if card.fields else ["None.", ""])),
        *("## Run it", "", *_commands(card)),
        *("## Tables with this method", "", *(_tables(tables) if tables else _no_table(card.name))),
    ]


def _serves(card: Card) -> Sequence[str]:
    return tuple(card.about.get("serves", ("pair",)))


def _commands(card: Card) -> list[str]:
    runs = [f"benchsuite run {card.name} --recipe {RECIPES[kind]} --dry-run" for kind in _serves(card)]
    return [
        *("One run without any files, and a check of the method's code. Without `--dry-run` the run is done.", ""),
        *shell(*runs, f"benchsuite check-method {card.name}"),
    ]


def _no_table(name: str) -> list[str]:
    return [f"No table has a row of it. `benchsuite repro TABLE --rows infonce,{name}` adds one.", ""]


def _fields(card: Card) -> list[str]:
    fields = [
        (f"`{field.name}`", _default(field.default), prose(field.words), prose(field.doc)) for field in card.fields
    ]
    return [f"Defaults are those of {card.defaults_are_of}.", "", *table(("name", "default", "type", "what"), fields)]


def _default(value: object) -> str:
    return "must be given" if value == REQUIRED else f"`{value!r}`"


def _tables(tables: list[tuple[Table, list[Row]]]) -> list[str]:
    return table(("table", "title", "rows"), [
        (
            f"[{t.name}](../papers/{t.paper}.md#{anchor(t.name)})",
            plain(t.title),
            "; ".join(dict.fromkeys(plain(row.label) for row in rows)),
        )
        for t, rows in tables
    ])  # fmt: skip
