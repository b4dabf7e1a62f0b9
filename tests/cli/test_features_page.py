"""The commands of docs/features.md, and real features, by the command line itself; recipes are shortened."""

import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
from support.commands import exit_code
from support.feature_folders import pairs_of, write_clip_retrieval
from support.own_data import write_image_folder

from benchsuite.errors import UsageError
from benchsuite.paths import baselines
from benchsuite.planning.plan import plan_table
from benchsuite.records.schema import Record
from benchsuite.records.store import Store

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "features.md").read_text("utf-8")
COMMANDS = re.findall(r"^    benchsuite (.+)$", PAGE, re.M)
REAL = ROOT.parent / "shared" / "data" / "features"
SMALL = ["--image", "timm:test_resnet?size=32", "--text", "distilbert?dim=16&n_layers=1&n_heads=2", "--untrained"]


@pytest.fixture
def short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_process: None) -> Path:
    """TeMo's Table 1 and a recipe of few steps; runs are measured in this process."""
    shutil.copytree(baselines(), tmp_path / "own")
    recipe = tmp_path / "own" / "recipes" / "features-pairs.toml"
    shortened = recipe.read_text().replace("steps = 1000", "steps = 50").replace("batch = 256", "batch = 16")
    recipe.write_text(shortened.replace("warmup_steps = 50", "warmup_steps = 5").replace("trials = 16", "trials = 1"))
    monkeypatch.setattr("benchsuite.folders.baselines", lambda: tmp_path / "own")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def records(folder: Path) -> list[Record]:
    return list(Store(folder / "runs").read().records.values())


def test_the_page_has_three_commands_twice() -> None:
    assert [shlex.split(command)[0] for command in COMMANDS] == ["embed", "repro", "repro"] * 2


def test_pictures_become_a_table(short: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first three; encoders are small ones with random weights, and only InfoNCE is run."""
    write_image_folder(short / "photos", 90)
    embed, *repro = (shlex.split(command) for command in COMMANDS[:3])
    at = embed.index("--image")
    assert embed[at + 2] == "--text"
    assert exit_code(*embed[:at], *SMALL, *embed[at + 4 :]) == 0
    for command in repro:
        assert exit_code(*command, "--rows", "RN50/InfoNCE", "--replicates", "1", "--regime", "tuned") == 0
    assert ": 1 replicate to do" in (shown := capsys.readouterr().out)
    (record,) = records(short)
    assert set(record.results) == {"retrieval", "geometry", "zero-shot", "knn", "linear-probe"}
    assert record.setup.data.name == "features"
    assert f"{100 * record.results['retrieval'].metrics['t2i_r1']:.1f}" in shown
    assert str(short) not in str(record.as_json())


def test_the_check_without_downloads_is_as_pasted(short: Path) -> None:
    for command in COMMANDS[3:]:
        assert exit_code(*shlex.split(command)) == 0
    found = {record.setup.image.mlp.layers: record for record in records(short) if record.setup.image.mlp}
    assert set(found) == {1, 2}
    for record in found.values():
        assert record.results["retrieval"].split_size == 200
        assert record.curves["loss"][-1] < record.curves["loss"][0]


def test_without_a_folder_the_plan_says_how_to_make_one(short: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("repro", "temo/table1", "--scale", "own-features", "--dry-run") == 2
    told = capsys.readouterr().err
    assert "features: no folder was given. Add --data features=FOLDER" in told
    assert "benchsuite embed pairs --data pairs=FOLDER --image timm:NAME --text NAME --out FOLDER" in told


def test_columns_of_classes_are_missing_where_the_data_has_none(tmp_path: Path) -> None:
    folders = {"features": str(write_clip_retrieval(tmp_path, pairs_of(60)))}
    assert plan_table("temo/table1", "own-features", [0], ["InfoNCE"], folders=folders).runs
    with pytest.raises(
        UsageError, match="temo/table5 at scale own-features: no column can be measured: the data has no"
    ):
        plan_table("temo/table5", "own-features", [0], folders=folders)


@pytest.mark.skipif(not REAL.is_dir(), reason="real paired features are not here")
@pytest.mark.parametrize("table", [False, True])
def test_real_features_in_clip_retrievals_layout_train(
    short: Path, table: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """CLIP on 500 pairs of COCO; 50 steps of InfoNCE on the image features tell the pairs apart that were held out."""
    write_clip_retrieval(short / "clip", np.load(REAL / "clip.npy"), (300,))
    data = ("--data", "features=clip")
    if table:
        assert exit_code("repro", "temo/table1", "--scale", "own-features", *data, "--seeds", "1", "--dry-run") == 0
        return
    assert exit_code("run", "infonce", "--recipe", "features-pairs", *data) == 0
    (record,) = records(short)
    assert set(record.results) == {"retrieval", "geometry"}
    tested = record.results["retrieval"].split_size
    assert tested
    assert 30 < tested < 70
    assert record.results["retrieval"].metrics["t2i_r10"] > 3 * 10 / tested
