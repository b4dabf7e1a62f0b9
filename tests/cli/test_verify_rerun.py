"""`benchsuite verify --rerun N`: stored runs done again."""

import json
import re
import shutil
from pathlib import Path

import pytest
from support.commands import exit_code
from support.in_process import in_this_process
from support.own_tables import NAME, TABLE, own_folder
from support.peers import transformers_text
from support.tiny_recipes import VECTORS
from support.two_processes import two_process_folder

from benchsuite.errors import UsageError
from benchsuite.paths import baselines
from benchsuite.records.schema import content_digest

pytestmark = pytest.mark.slow

GEOMETRY = 'protocols.geometry = { task = "geometry" }'


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("measured")
    (folder / "tiny.toml").write_text(VECTORS + GEOMETRY)
    in_this_process(folder, "run", "infonce", "--recipe", "tiny.toml", "--keep-weights")
    return folder


@pytest.fixture
def runs(measured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(measured, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "runs"


def test_a_true_record_agrees_in_every_digit_and_stays_as_it_is(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.stat().st_mtime_ns for path in runs.rglob("*")}
    capsys.readouterr()
    assert exit_code("verify", runs, "--rerun", "1") == 0
    told = capsys.readouterr().out
    assert "numbers are equal in every digit" in told
    assert told.count("verified.") == 1
    assert {path: path.stat().st_mtime_ns for path in runs.rglob("*")} == before


def test_a_record_whose_numbers_were_made_up_consistently_is_found(
    runs: Path, in_process: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its curve agrees with its seal and contradicts nothing; a digest of the batches as well."""
    (file,) = runs.glob("*.json")
    content = json.loads(file.read_text())
    content["digests"]["batches"] = "0" * 16
    content["digest"] = content_digest(content)
    file.write_text(json.dumps(content))
    assert exit_code("verify", runs) == 0
    capsys.readouterr()
    assert exit_code("verify", runs, "--rerun", "1") == 1
    assert "run again: the digest of batches is another" in capsys.readouterr().out


def test_another_version_cannot_be_run_again_and_asking_for_it_is_no_success(
    runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchsuite.cards.Card.version", property(lambda card: 2))
    capsys.readouterr()
    assert exit_code("verify", runs, "--rerun", "1") == 1
    told = capsys.readouterr().out
    assert "cannot be run again here: it was measured with version 1 of infonce, which is at 2" in told
    assert "0 of 1 records to run again could be drawn" in told


def test_devices_that_are_not_here_leave_a_record_out(
    runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object, **__: object) -> None:
        raise UsageError("--devices 1: this machine has 0 GPUs.")

    monkeypatch.setattr("benchsuite.verify.rerun.Devices.here", none)
    capsys.readouterr()
    assert exit_code("verify", runs, "--rerun", "1") == 1
    told = capsys.readouterr().out
    assert "cannot be run again here: --devices 1: this machine has 0 GPUs." in told
    assert "numbers recomputed" in told, "what was checked is told all the same"


def test_a_single_run_is_judged_by_the_other_seeds_of_its_folder(
    runs: Path, in_process: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """With numbers and a processor that are not those of the record: by the row alone."""
    for seed in (1, 2, 3):
        assert exit_code("run", "infonce", "--recipe", "tiny.toml", "--seed", seed) == 0
    (file,) = runs.glob("infonce-s0-*.json")
    content = json.loads(file.read_text())
    content["environment"]["processor"] = "another"
    content["results"]["geometry"]["measures"]["gap"] += 1e-9
    content["digest"] = content_digest(content)
    file.write_text(json.dumps(content))
    capsys.readouterr()
    assert exit_code("verify", file, "--rerun", "1") == 0
    told = capsys.readouterr().out
    assert re.search(r"1 of \d+ numbers moved; none farther than .* \(3 other seeds\)", told)


def test_a_run_on_a_folder_of_texts_is_done_again_where_that_is_now(
    tmp_path: Path, in_process: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And is its table's row: the request knows the encoder by its weights."""
    monkeypatch.chdir(tmp_path)
    own = two_process_folder(tmp_path / "own", ["infonce"], processes=1)
    recipe = own / "recipes" / "pair.toml"
    text = recipe.read_text("utf-8")
    for key, value in {
        "data": '{ name = "scenes", options = { train = 64, validation = 8, test = 24, gallery = 8 } }',
        "clusters": '{ labels = "shape" }',
        "experts": "{}",
        "backbones.RN": '{ description = "tiny", tower = { timm = "test_resnet" }, step_seconds = 0.1 }',
        "text": f'{{ transformer = "{transformers_text(tmp_path / "here")}", pretrained = true, max_tokens = 8 }}',
    }.items():
        text = re.sub(rf"^{key} = .*$", f"{key} = {value}", text, flags=re.M)
    recipe.write_text(text)
    assert exit_code("repro", "two/pair", "--scale", "tiny", "--tables", own, "--report", tmp_path / "pages") == 0
    capsys.readouterr()
    assert exit_code("export", "two/pair", "--tables", own, "--format", "csv") == 0
    assert re.search(r"infonce,score,,percent,,\d", capsys.readouterr().out)
    (tmp_path / "here").rename(tmp_path / "there")
    again = ("verify", "runs", "--tables", own, "--rerun", "1")
    assert exit_code(*again) == 1
    assert "Say where its model is: --data text=FOLDER" in capsys.readouterr().out
    assert exit_code(*again, "--data", "text=there") == 0
    assert "numbers are equal in every digit" in capsys.readouterr().out
    (file,) = (tmp_path / "runs").glob("*.json")
    assert str(tmp_path) not in file.read_text()


def test_rows_on_several_folders_of_texts_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A request knows one by its weights: a row would be given the other's runs."""
    text = (baselines() / "recipes" / "scenes-smoke.toml").read_text("utf-8")
    table = TABLE.replace('method = "ts"', 'variant = "other"\nmethod = "ts"')
    own = own_folder(tmp_path / "own", table)
    for name, seed in (("one", 4), ("two", 5)):
        transformers_text(tmp_path / name, seed)
    tower = f'transformer = "{tmp_path}/one"\npretrained = true\nmax_tokens = 8\n'
    text = re.sub(r"\[text\]\n(?:.+\n)*(?:\n?\[text\.config\]\n(?:.+\n)*)?", f"[text]\n{tower}", text)
    change = f'change = {{ text = {{ transformer = "{tmp_path}/two" }} }}'
    (own / "recipes" / "tiny.toml").write_text(f'{text}\n[variants.other]\ndescription = "other"\n{change}\n')
    given = ("repro", NAME, "--scale", "smoke", "--tables", own, "--results", tmp_path / "runs", "--dry-run")
    assert exit_code(*given) == 2
    assert f"of the text tower ({tmp_path}/one, {tmp_path}/two)" in capsys.readouterr().err
    assert exit_code(*given, "--data", f"text={tmp_path}/two") == 0
