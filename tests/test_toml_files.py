from pathlib import Path

import pytest
from pydantic import model_validator

from benchsuite.errors import UsageError
from benchsuite.fields import Count
from benchsuite.parts import Part
from benchsuite.setup import Protocol
from benchsuite.toml_files import line_of, read_toml


class Inner(Part):
    steps: Count
    batch: Count = 2


class Outer(Part):
    title: str
    training: Inner
    protocols: dict[str, Protocol] = {}
    rows: list[Inner] = []

    @model_validator(mode="after")
    def _is_not_secret(self) -> "Outer":
        if self.title == "secret":
            raise ValueError("the title is secret")
        return self


def written(folder: Path, text: str) -> Path:
    path = folder / "file.toml"
    path.write_text(text, "utf-8")
    return path


def refusal(folder: Path, text: str) -> str:
    path = written(folder, text)
    with pytest.raises(UsageError) as caught:
        read_toml(path, Outer)
    message = str(caught.value)
    assert message.startswith((f"{path}: ", f"{path}, line "))
    return message.partition(": ")[2]


def test_a_sound_file_is_read(tmp_path: Path) -> None:
    read = read_toml(written(tmp_path, 'title = "é"\n[training]\nsteps = 3\n[[rows]]\nsteps = 4'), Outer)
    assert (read.title, read.training.steps, read.rows[0].steps) == ("é", 3, 4)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"absent\.toml: no such file"):
        read_toml(tmp_path / "absent.toml", Outer)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=str(tmp_path)):
        read_toml(tmp_path, Outer)


def test_broken_toml_is_named_with_its_place(tmp_path: Path) -> None:
    assert refusal(tmp_path, 'title = "x"\n[training\n').startswith("not valid TOML: ")
    assert "line 2" in refusal(tmp_path, 'title = "x"\n[training\n')


@pytest.mark.parametrize("line", ["{} = 1", "[{}]", "a = {{ {} = 1 }}"])
def test_a_key_that_takes_minutes_to_parse_is_refused(tmp_path: Path, line: str) -> None:
    said = refusal(tmp_path, 'title = "x"\n' + line.format("x." * 250_000 + "x"))
    assert said == "more than 200 dots."


def test_text_that_is_not_utf8_is_not_valid(tmp_path: Path) -> None:
    path = tmp_path / "file.toml"
    path.write_bytes(b'title = "\xff"')
    with pytest.raises(UsageError, match="not valid TOML"):
        read_toml(path, Outer)


@pytest.mark.parametrize(
    ("text", "where", "known", "meant"),
    [
        ("protocol = 1\n[training]\nsteps = 3", "", "protocols, rows, title, training", "protocols"),
        ("[training]\nsteps = 3\nbacth = 4", "training: ", "batch, steps", "batch"),
        ("[protocols.zero-shot]\ntask = 't'\noption = {}\n[training]\nsteps = 3", "zero-shot: ", "options", "options"),
        ("[protocols.task]\ntask = 't'\noption = {}\n[training]\nsteps = 3", "task: ", "options", "options"),
        ("[training]\nsteps = 3\n[[rows]]\nsteps = 4\nbathc = 1", "rows.0: ", "batch, steps", "batch"),
    ],
    ids=["file", "part", "named part", "part named like a field", "list"],
)
def test_a_misspelt_key_gets_the_keys_of_its_part_and_the_nearest(
    text: str, where: str, known: str, meant: str, tmp_path: Path
) -> None:
    said = refusal(tmp_path, f'title = "x"\n{text}')
    assert where in said
    assert known in said
    assert said.endswith(f'Did you mean "{meant}"?')


def test_a_misspelt_key_that_is_required_is_called_misspelt(tmp_path: Path) -> None:
    assert 'Did you mean "steps"?' in refusal(tmp_path, 'title = "x"\n[training]\nstesp = 3')


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    assert refusal(tmp_path, 'title = "x"\n[training]\nbatch = 3') == "training.steps: Field required."


def test_an_impossible_value_is_named_and_others_counted(tmp_path: Path) -> None:
    said = refusal(tmp_path, 'title = "x"\n[training]\nsteps = 0\nbatch = "many"')
    assert said.startswith("training.steps: Input should be greater than 0.")
    assert said.endswith("(1 more)")


def test_a_file_at_odds_with_itself_says_so(tmp_path: Path) -> None:
    assert "the title is secret" in refusal(tmp_path, 'title = "secret"\n[training]\nsteps = 3')


PLACES = """title = "x"
[training]
steps = 3
[[rows]]
steps = 4
inner = { a = 1 }
[[rows]]
batch = 2
[protocols."a-b"]
task = "t"
[protocols.c.options]
d = 1
"""


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (("title",), 1),
        (("training", "steps"), 3),
        (("rows", 0), 4),
        (("rows", 0, "inner", "a"), 6),
        (("rows", 1, "batch"), 8),
        (("rows", 1, "steps"), 7),
        (("rows", 7), None),
        (("protocols", "c", "options", "d"), 12),
        (("absent",), None),
    ],
)
def test_the_line_of_a_key_is_found_or_that_of_what_holds_it(place: tuple[str | int, ...], line: int | None) -> None:
    assert line_of(PLACES, place) == line
