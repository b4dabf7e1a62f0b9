"""Every command of the README and the documentation runs: trainings with --dry-run, all others as shown."""

import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from shown import PAGES, ROOT, blocks, lines, words
from support.commands import exit_code
from support.in_process import in_this_process
from support.made_records import any_record
from support.made_trials import trials_file
from support.measured import HIGH, LOW, fill
from support.own_data import as_csv, caption, colour, name, write_image_folder, write_pictures
from support.peers import transformers_clip

from benchsuite.planning.recipe import read_recipe
from benchsuite.planning.subjects import require_tuning
from benchsuite.records.store import Store
from benchsuite.records.trials import TRIALS, write_trials

pytestmark = pytest.mark.slow

NOT_RUN = {
    "python3 -m venv": "installs; .ci/run starts with the README's line",
    ".venv/bin/pip install": "installs",
    "pip install": "installs",
    "tox -e": "an environment of its own; test_tox_environments_exist",
    "BENCHSUITE_": "hours; tests/e2e/test_kills.py and tests/execution/test_long_run.py do a few",
    "python benchmarks/": "measures for minutes; test_scripts_exist",
    "python tools/": "needs packages that are downloaded; tests/data/test_emoji_features.py runs its parts",
    "git ": "changes or fetches a repository",
    "benchsuite check-method --all": "a minute; tests/conformance runs all checks on all methods",
    "benchsuite repro all": "plans all tables; .ci/run does their runs",
    "benchsuite repro temo/table1 --scale features --replicates 100": "plans the data of ten replicates",
    "benchsuite repro example/": "tests/e2e/test_example_package.py installs the package",
    "benchsuite plot temo/table1 --scale latents --plugin mine.py --added": "needs runs; tests/cli/test_plot.py",
    "benchsuite export mine/": "needs the runs of the line before; tests/cli/test_own_tables.py",
    'benchsuite evaluate "open_clip:': "downloads",
    "benchsuite run infonce --recipe pairs-gpu": "needs hundreds of images, and pretrained towers",
    "benchsuite evaluate transformers:": "downloads",
    "benchsuite evaluate timm:": "downloads",
    "benchsuite evaluate towers": "needs a fine-tuned run; tests/encoders/test_export_model.py",
    "benchsuite regress": "minutes; .ci/run and tests/gate/test_scores.py run it",
    "benchsuite weights RUN --format": "needs a fine-tuned run; tests/encoders/test_export_model.py",
    "benchsuite embed pairs": "downloads encoders; tests/cli/test_features_page.py runs it with small ones",
    "benchsuite embed scenes": "tests/cli/test_features_page.py",
    "benchsuite verify runs --rerun": "trains; tests/cli/test_verify_rerun.py",
    "benchsuite verify ../theirs/results --base": "needs a manifest; tests/test_results_job.py",
}
"""What a line begins with, and why it is not run here."""
TRAINS = ("run", "repro", "tune", "compare")
DATA = r"=FOLDER| DATA\b| \.\.\. |=data/|=vectors|=check|=emoji\b|=icons\b|timm:|transformers:|open_clip:"
"""A command for data, or pretrained weights, that are not here."""
ABOUT_DATA = (
    r"--data|is not a folder|given|no such|not found|needs|hold|sinfo|SLURM|neither a folder|cannot be (read|loaded)"
    r"|larger than split"
)
ANSWERS = {"doctor": {0, 1}, "diff": {0, 1}, "verify": {0, 1}, "claims": {0, 1}}
"""Commands whose exit code may be an answer."""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the pages speak of: results, others' beside it, weights, images, a plugin."""
    folder = tmp_path_factory.mktemp("reader") / "project"
    fill(
        folder / "results", any_record, {"InfoNCE": LOW, "TeMo": HIGH},
        scale="latents", regime="tuned",
    )  # fmt: skip
    rule = require_tuning(read_recipe("latents-pairs"), "latents-pairs").model_dump(mode="json")
    trials = trials_file({"infonce": 0.5, "temo": 0.5}).model_copy(update={"rule": rule})
    write_trials(folder / "results" / TRIALS / "latents-pairs.parquet", trials)
    (folder / "mine.py").write_text(blocks("README.md", "python")[0])
    write_image_folder(folder / "photos", 90)
    transformers_clip(folder / "clip")
    write_table(folder / "shop", {"photo": name, "title": caption, "details": colour})
    write_table(folder / "zoo", {"image": name, "caption": caption, "animal": colour})
    smoke = ("repro", "temo/table1", "--scale", "smoke", "--rows", "RN50/InfoNCE,RN50/TeMo", "--seeds", "1")
    in_this_process(folder, *smoke, "--keep-weights")
    for file in (folder / "results").rglob("*"):
        copy = folder / "runs" / file.relative_to(folder / "results")
        if file.is_file() and not copy.exists() and file.name != "MANIFEST.json":
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
    for copy in ("reproduced", "../theirs/runs", "../theirs/results"):
        shutil.copytree(folder / "runs", folder / copy)
    for picture, animal in zip(sorted((folder / "photos").glob("*.png")), ("cat.jpg", "dog.png"), strict=False):
        shutil.copyfile(picture, folder / animal)
    (folder / "data" / "cifar10").mkdir(parents=True)
    return folder


def read(file: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return content


def write_table(folder: Path, columns: dict[str, object]) -> None:
    write_pictures(folder, 90)
    (folder / "list.csv").write_text(as_csv([{key: make(i) for key, make in columns.items()} for i in range(90)]))  # type: ignore[operator]


@pytest.fixture(scope="module")
def planned() -> set[tuple[str, ...]]:
    """Trainings of earlier pages that were planned as they should be."""
    return set()


@pytest.fixture
def forgotten_plugins(forgetful_registries: None) -> Iterator[None]:
    """Plugins that a page's commands load are imported again for the next page."""
    yield
    for module in [module for module in sys.modules if module.startswith("benchsuite_plugin_")]:
        del sys.modules[module]


def not_run(line: str) -> bool:
    return any(line.startswith(start) for start in NOT_RUN)


def as_run(line: str, runs: dict[str, str]) -> list[str]:
    """The arguments; those of placeholders filled in, trainings planned only, and of one replicate: each has data."""
    given = [runs.get(word, word) for word in words(line) if word not in ("DATA", "...")]
    trains = given[0] in TRAINS and "--dry-run" not in given
    each = [] if given[0] == "run" or {"--replicates", "--seeds"} & {*given} else ["--replicates", "1"]
    return [*given, "--dry-run", *each] if trains else given


@pytest.mark.parametrize("page", [page for page in PAGES if any(not not_run(line) for line in lines(page))])
def test_every_command_of_the_page_works(
    page: str,
    workspace: Path,
    planned: set[tuple[str, ...]],
    forgotten_plugins: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(workspace)
    monkeypatch.setattr("benchsuite.work.duration.seconds_of", lambda run: 1.0)  # `compare` trains a few steps for it
    shutil.rmtree("own", ignore_errors=True)
    for table in re.findall(r"^```\n(name,.*?)```", PAGES[page], re.S | re.M):
        Path("table1.csv").write_text(table)
    records = Store(Path("runs")).read().records.values()
    run = next(record.run_id for record in records if record.weights)
    other = next(record.run_id for record in records if record.run_id != run)
    failed = []
    for line in dict.fromkeys(line for line in lines(page) if not not_run(line)):
        arguments = as_run(line, {"RUN": run, "OTHER": other, "3f09": run[:6]})
        if tuple(arguments) in planned:
            continue
        code, shown = exit_code(*arguments), capsys.readouterr()
        if re.search(DATA, line) and code in (2, 3):
            right = re.search(ABOUT_DATA, shown.err) is not None and "Usage: " not in shown.err
        elif arguments[:2] in (["plot", "temo"], ["plot", "--survey"]):  # one seed, one scale: too little for some
            right = code == 0 or (code == 2 and "no runs to compare" in shown.err)
        else:
            right = code in ANSWERS.get(arguments[0], {0})
        if not right:
            failed.append(f"{line}\n  exit code {code}: {shown.err[-800:]}")
        elif "--dry-run" in arguments and "mine.py" not in arguments:
            planned.add(tuple(arguments))
    assert not failed, "\n".join(failed)
    if page == "at-size.md":
        names: dict[str, Any] = {}
        exec(blocks(page, "python")[0], names)
        assert names["pictures"].shape == (2, names["words"].shape[1])


def test_what_is_not_run_is_shown_somewhere() -> None:
    every = [line for page in PAGES for line in lines(page)]
    assert [start for start in NOT_RUN if not any(line.startswith(start) for line in every)] == []


def test_tox_environments_exist() -> None:
    ini = (ROOT / "tox.ini").read_text("utf-8")
    shown = {env for page in PAGES for line in lines(page) for env in re.findall(r"\btox -e ([\w-]+)", line)}
    assert {env for env in shown if f"[testenv:{env}]" not in ini and not env.startswith("repro-")} <= {"py"}


def test_scripts_exist() -> None:
    scripts = {s for page in PAGES for line in lines(page) for s in re.findall(r"^python (\S+\.py)", line)}
    assert scripts
    assert all((ROOT / script).is_file() for script in scripts)
