"""The reference that the documentation's build makes: everything public is in it, and it is made without torch."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import benchsuite
from benchsuite.cli import COMMANDS, application
from benchsuite.papers import read_table, table_names
from benchsuite.registry import methods

DOCS = Path(__file__).parents[2] / "docs"
WRITTEN = sorted([*DOCS.glob("*.md"), *(DOCS / "maintainers").glob("*.md")])
"""The pages that are not made at a build."""
CODE = """
import sys
from pathlib import Path

class NoTorch:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("the reference needs torch", name=name)

sys.meta_path.insert(0, NoTorch)
sys.path.insert(0, sys.argv[1])
import generate

generate.write(Path(sys.argv[2]))
"""


def generate(source: Path) -> None:
    """In a process that cannot import torch."""
    done = subprocess.run([sys.executable, "-c", CODE, DOCS, source], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The generated pages; one page was left from another build."""
    source = tmp_path_factory.mktemp("docs")
    (source / "reference" / "methods").mkdir(parents=True)
    (source / "reference" / "methods" / "gone.md").write_text("# Gone\n")
    generate(source)
    return source / "reference"


def test_each_command_has_a_page_with_all_its_options(folder: Path) -> None:
    group = typer.main.get_command(application())
    for name in COMMANDS:
        page = (folder / "commands" / f"{name}.md").read_text("utf-8")
        command = group.commands[name]  # type: ignore[attr-defined]
        assert command.help.partition("\n")[0][:40] in page.replace("\\", "")
        for parameter in command.params:
            if parameter.param_type_name == "option":
                assert f"`{parameter.opts[0]}" in page, (name, parameter.opts)


def test_each_method_has_a_page_with_its_fields_and_its_tables(folder: Path) -> None:
    pages = {file.stem: file.read_text("utf-8") for file in (folder / "methods").glob("*.md")}
    assert pages.keys() == set(methods)
    for name, card in methods.cards().items():
        fields = re.findall(r"^\| `(\w+)` \|", pages[name], re.M)
        assert fields == [field.name for field in card.fields]
        if "equation" in card.about:
            assert "<math" in pages[name]
    for name in table_names():
        table = read_table(name)
        for row in table.rows:
            if row.method:
                assert f"[{name}](../papers/{table.paper}.md#{name.replace('/', '-')})" in pages[row.method]


def test_each_paper_has_a_page_with_its_tables(folder: Path) -> None:
    for name in table_names():
        page = (folder / "papers" / f"{name.partition('/')[0]}.md").read_text("utf-8")
        _, section = page.split(f"({name.replace('/', '-')})=\n## {name}\n")
        section = section.partition("\n## ")[0]
        for scale, recipe in read_table(name).recipes.items():
            assert f"| `{scale}` | `{recipe}` |" in section
        assert section.count("../methods/") == sum(row.method is not None for row in read_table(name).rows)


def test_every_public_name_of_python_is_documented(folder: Path) -> None:
    page = (folder / "python.md").read_text("utf-8")
    shown = re.findall(r"^`{3,4}{py:(class|function)} benchsuite\.(\w+)(.*)", page, re.M)
    assert sorted(name for _, name, _ in shown) == benchsuite.__all__
    signatures = {name: arguments for _, name, arguments in shown}
    assert signatures["load_results"].startswith("(folder: str | Path='runs')")
    assert signatures["register_method"] == "(name: str, **about: Any) -> Callable[[T], T]"
    assert "{py:method} loss(batch: PairBatch, clock: Clock)" in page


def test_each_notebook_has_a_page_with_its_code(folder: Path) -> None:
    for file in (DOCS / "notebooks").glob("*.ipynb"):
        page = (folder / "notebooks" / f"{file.stem}.md").read_text("utf-8")
        for cell in json.loads(file.read_text("utf-8"))["cells"][1:]:
            assert "".join(cell["source"]) in page
        assert "shows no outputs" in page


@pytest.mark.slow
def test_pages_of_what_is_gone_are_removed_and_equal_ones_keep_their_date(folder: Path) -> None:
    assert not (folder / "methods" / "gone.md").exists()
    page = folder / "methods" / "temo.md"
    before = page.stat().st_mtime_ns
    generate(folder.parent)
    assert page.stat().st_mtime_ns == before


def test_every_page_is_in_one_list() -> None:
    """Sphinx would refuse a page that no list names; this says so without Sphinx."""
    lists = "\n".join((DOCS / name).read_text("utf-8") for name in ("index.md", "reference.md"))
    named = [line for block in re.findall(r"```{toctree}\n(.*?)```", lists, re.S) for line in block.splitlines()]
    pages = {file.relative_to(DOCS).with_suffix("").as_posix() for file in WRITTEN} - {"index"}
    assert sorted(name for name in named if name in pages) == sorted(pages)


@pytest.mark.parametrize("page", WRITTEN, ids=lambda file: file.name)
def test_links_between_pages_lead_to_pages(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([\w./-]+\.\w+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    made = "reference/"  # by the build, whose own check these links meet
    assert [link for link in links if not link.startswith(made) and not (page.parent / link).exists()] == []
