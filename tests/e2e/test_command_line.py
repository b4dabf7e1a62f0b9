"""The user's path, by the real command in a process of its own."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchsuite.records.store import Store

COMMAND = [sys.executable, "-m", "benchsuite"]
BROKEN = """
import torch
from benchsuite import Loss, Method, register_method
from benchsuite.objectives.softmax import info_nce

@register_method("broken", title="Broken <b>")
class Broken(Method):
    "InfoNCE that breaks down."
    def loss(self, batch, clock):
        total = info_nce(batch.image @ batch.text.T, 0.05)
        return Loss(total * (float("nan") if clock.step == 3 else 1), {"contrast": total})
"""


def start(arguments: Sequence[str], folder: Path) -> "subprocess.Popen[str]":
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [*COMMAND, *arguments], cwd=folder, stdout=pipe, stderr=pipe, text=True, preexec_fn=heed_ctrl_c
    )


def heed_ctrl_c() -> None:
    """In a new process: Ctrl-C ends it, even if the tests were started in the background, where it is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run(arguments: Sequence[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    with start(arguments, folder) as process:
        out, err = process.communicate()
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def wait_for_records(folder: Path, count: int, process: "subprocess.Popen[str]") -> None:
    while len(list(folder.glob("*-s*.json"))) < count:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("measured")
    done = run(["repro", "temo/table1", "--scale", "smoke", "--rows", "infonce,ts,RN50/TeMo", "--seeds", "2"], folder)
    assert done.returncode == 0, done.stderr
    (folder / "printed").write_text(done.stdout)
    return folder


def test_repro_prints_published_beside_ours_and_the_page(measured: Path) -> None:
    printed = (measured / "printed").read_text()
    assert re.search(r"InfoNCE +published +21\.64 +28\.60", printed)
    assert re.search(r"ours +\d+\.\d ± \d+\.\d.* 2 seeds", printed)
    page = Path(re.findall(r"page: +(.*)", printed)[0])
    assert "test_resnet" in page.read_text()
    assert "21.64" in page.read_text()


def test_repeating_a_finished_table_runs_nothing(measured: Path) -> None:
    before = {file: file.stat().st_mtime_ns for file in (measured / "runs").glob("*-s*.json")}
    again = run(
        ["repro", "temo/table1", "--scale", "smoke", "--rows", "infonce,ts,RN50/TeMo", "--seeds", "2"], measured
    )
    assert again.returncode == 0
    assert " 0 to do" in again.stdout
    assert {file: file.stat().st_mtime_ns for file in before} == before


def test_a_seed_pairs_all_methods_and_only_them(measured: Path) -> None:
    records = [r for r in Store(measured / "runs").records().values() if r.setup.image.timm == "test_resnet"]
    by_seed = {seed: [r.digests for r in records if r.seed == seed] for seed in (0, 1)}
    assert [len(same) for same in by_seed.values()] == [3, 3]
    assert all(digests == same[0] for same in by_seed.values() for digests in same)
    assert by_seed[0][0]["initial_weights"] != by_seed[1][0]["initial_weights"]
    assert by_seed[0][0]["batches"] != by_seed[1][0]["batches"]


def test_rows_of_a_backbone_share_their_setup(measured: Path) -> None:
    setups = {(r.setup.image.timm, r.setup_id) for r in Store(measured / "runs").records().values()}
    assert len(setups) == 2


def test_report_makes_the_pages_again_from_the_records_alone(measured: Path) -> None:
    made = run(["report", "--report", "again"], measured)
    assert made.returncode == 0, made.stderr
    again = (measured / "again" / "tables" / "temo-table1-smoke.html").read_text()
    assert again == (measured / "reports" / "tables" / "temo-table1-smoke.html").read_text()


def test_claims_are_judged_from_the_records_alone(measured: Path) -> None:
    done = run(["claims", "temo/table1", "--json"], measured)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    verdicts = {(one["row"], one["reference"], one["column"]): one["verdict"] for one in told["claims"]}
    assert verdicts["RN50/TeMo", "RN50/InfoNCE", "coco_ir1"] == "undecided"
    assert verdicts["RN50/TeMo", "RN50/CWCL", "coco_ir1"] == "not run"
    assert {one["scale"] for one in told["claims"]} == {"smoke"}


def test_a_table_is_exported_with_the_numbers_of_its_records(measured: Path) -> None:
    done = run(["export", "temo/table1", "--scale", "smoke", "--format", "json"], measured)
    assert done.returncode == 0, done.stderr
    cells = {(one["backbone"], one["row"], one["column"]): one for one in json.loads(done.stdout)["cells"]}
    records = Store(measured / "runs").records().values()
    mine = [r for r in records if r.method.name == "ts" and r.setup.image and r.setup.image.timm == "test_resnet"]
    found = cells["RN50", "TS", "coco_ir1"]["values"]
    assert found == pytest.approx({str(r.seed): 100 * r.metric("retrieval.t2i_r1") for r in mine})


def test_a_table_that_is_not_there_is_not_exported(measured: Path) -> None:
    done = run(["export", "temo/table2", "--scale", "smoke"], measured)
    assert done.returncode == 2
    assert "temo/table2 is not in runs. Run `benchsuite repro temo/table2 --scale smoke` first." in done.stderr


def test_two_tables_do_the_runs_they_share_once(measured: Path) -> None:
    request = ["repro", "temo/table1", "temo/table4", "--scale", "smoke", "--rows", "infonce,ts", "--seeds", "2"]
    done = run([*request, "--dry-run"], measured)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 tables at scale smoke: 8 runs, 0 to do; ")


def test_a_failing_run_keeps_the_others_and_tells_why(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(BROKEN)
    arguments = ["repro", "temo/table1", "--scale", "smoke", "--rows", "RN50/InfoNCE,broken", "--seeds", "1"]
    done = run([*arguments, "--plugin", "broken.py"], tmp_path)
    assert done.returncode == 3
    assert "broken: the loss is nan at step 3" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert [r.method.name for r in Store(tmp_path / "runs").records().values()] == ["infonce"]
    page = (tmp_path / "reports" / "tables" / "temo-table1-smoke.html").read_text()
    assert "the loss is nan at step 3" in page
    assert "Broken &lt;b&gt;" in page
    assert "Broken <b>" not in page


def test_an_unexpected_failure_names_its_place_and_keeps_the_traceback(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(BROKEN.replace('float("nan") if clock.step == 3 else 1', "self.factor"))
    done = run(["run", "broken", "--recipe", "scenes-smoke", "--plugin", "broken.py"], tmp_path)
    assert done.returncode == 3
    assert re.search(r"AttributeError: .*'factor' \(broken\.py, line 11\)", done.stderr)
    (details,) = (tmp_path / "runs" / "logs").glob("*.txt")
    assert "Traceback (most recent call last)" in details.read_text()
    assert str(details.relative_to(tmp_path)) in done.stderr


def test_a_truncated_record_is_named_and_the_rest_is_shown(tmp_path: Path, measured: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    for file in (measured / "runs").glob("infonce-s*"):
        (runs / file.name).write_bytes(file.read_bytes())
    victim, *others = sorted(runs.glob("*.json"))
    victim.write_bytes(victim.read_bytes()[:500])
    arguments = ["repro", "temo/table1", "--scale", "smoke", "--rows", "infonce", "--seeds", "2"]
    before = victim.read_bytes()
    for command in (arguments, ["report"]):
        refused = run(command, tmp_path)
        assert refused.returncode == 1
        assert f"{victim.relative_to(tmp_path)}: truncated or not JSON" in refused.stderr
        assert "Traceback" not in refused.stderr
        page = tmp_path / "reports" / "tables" / "temo-table1-smoke.html"
        assert "its record was refused, truncated or not JSON" in page.read_text()
        assert " ± " in page.read_text()
        page.unlink()
    assert victim.read_bytes() == before
    assert " 4 runs, 0 to do, 1 refused" in run([*arguments, "--dry-run"], tmp_path).stdout
    victim.unlink()
    assert " 4 runs, 1 to do" in run([*arguments, "--dry-run"], tmp_path).stdout
    assert all(json.loads(file.read_text()) for file in others)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_table_goes_on_where_it_stopped(tmp_path: Path, how: signal.Signals) -> None:
    arguments = ["repro", "temo/table1", "--scale", "smoke", "--rows", "RN50/InfoNCE", "--seeds", "5", "--jobs", "2"]
    process = start(arguments, tmp_path)
    wait_for_records(tmp_path / "runs", 1, process)
    process.send_signal(how)
    if how is signal.SIGINT:  # and once more, as impatient people do
        time.sleep(0.2)
        process.send_signal(how)
    _, err = process.communicate()
    assert process.returncode == (-signal.SIGKILL if how is signal.SIGKILL else 130)
    assert how is signal.SIGKILL or "the same command goes on from there" in err
    assert how is signal.SIGKILL or "Traceback" not in err
    assert how is signal.SIGKILL or "leaked" not in err
    stored = Store(tmp_path / "runs").records()
    assert 1 <= len(stored) < 5
    times = {file: file.stat().st_mtime_ns for file in (tmp_path / "runs").glob("*-s*.json")}
    again = run(arguments, tmp_path)
    assert again.returncode == 0, again.stderr
    assert f" {5 - len(stored)} to do" in again.stdout
    assert len(Store(tmp_path / "runs").records()) == 5
    assert {file: file.stat().st_mtime_ns for file in times} == times


def test_workers_do_not_outlive_a_killed_parent(tmp_path: Path) -> None:
    process = start(["run", "infonce", "--recipe", "scenes-small"], tmp_path)
    workers: list[int] = []
    while not workers:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        workers = [int(c) for c in children if b"spawn_main" in Path(f"/proc/{c}/cmdline").read_bytes()]
        time.sleep(0.05)
    process.kill()
    process.communicate()
    while any(os.path.exists(f"/proc/{worker}") for worker in workers):  # noqa: PTH110
        time.sleep(0.05)


def test_run_measures_one_method_and_prints_its_metrics(tmp_path: Path) -> None:
    arguments = ["run", "infonce-learnable", "--recipe", "scenes-smoke", "--backbone", "ViT-B/16", "--set", "tau=0.05"]
    done = run(arguments, tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search(r"retrieval\.t2i_r1 +\d+\.\d\d %", done.stdout)
    (record,) = Store(tmp_path / "runs").records().values()
    assert record.curves["temperature"][0] != record.curves["temperature"][-1]


@pytest.mark.parametrize(
    ("method", "recipe", "backbone", "prepared"),
    [("mm-ts", "scenes-smoke", "RN50", {"clusters"}), ("isogclr", "scenes-image-smoke", "ResNet-18", set()),
     ("simclr", "scenes-text-smoke", "BERT", set()), ("mm-ts-margin", "clips-smoke", "VAST", {"clusters"}),
     ("infonce", "clips-smoke", "ViT-B", set())],
)  # fmt: skip
def test_clusters_single_towers_and_clips_are_trained_by_the_same_command(
    method: str, recipe: str, backbone: str, prepared: set[str], tmp_path: Path
) -> None:
    done = run(["run", method, "--recipe", recipe, "--backbone", backbone], tmp_path)
    assert done.returncode == 0, done.stderr
    (record,) = Store(tmp_path / "runs").records().values()
    assert prepared == set(record.digests) & {"clusters", "image_expert", "text_expert"}


def test_a_method_that_cannot_serve_a_setup_says_so_before_anything_runs(tmp_path: Path) -> None:
    done = run(["run", "temo", "--recipe", "scenes-image-smoke", "--backbone", "ResNet-18"], tmp_path)
    assert done.returncode == 2
    assert "temo trains an image and a text tower; the setup has an image tower alone." in done.stderr
    assert not (tmp_path / "runs").exists()
