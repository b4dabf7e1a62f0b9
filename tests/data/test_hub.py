"""A dataset of the hub in place of a folder, from a hub that is served here."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.real_files import pictures, png, write_shards
from test_clip_benchmark import write_winoground

from benchsuite.cli.shared.options import parse_folders
from benchsuite.data import create_dataset
from benchsuite.data.readers.hub import on_hub
from benchsuite.errors import UsageError
from benchsuite.registry import datasets

REVISIONS = {"main": (5, 4), "a-tag": (3, 2)}
"""Sizes of the tar files of each."""
WINOGROUND = "winoground"
"""A revision with other files."""
TABLE = "table"
"""A revision that the library datasets reads."""
NAMES = (*REVISIONS, WINOGROUND, TABLE)
READ = """
import sys
from benchsuite.data import create_dataset
dataset = create_dataset("cc3m", folder=sys.argv[1], size=8)
print(dataset.manifest().digest, len(dataset.read("train").captions), dataset.read("train").captions[-1][0])
"""


class Hub(BaseHTTPRequestHandler):
    """What the library asks of a hub: which files a revision has, and each of them."""

    folder: Path

    def do_GET(self) -> None:
        parts = self.path.partition("?")[0].strip("/").split("/")
        if parts[:4] == ["api", "datasets", "me", "pairs"] and parts[-1] in (*NAMES, *map(commit, NAMES)):
            name = next(name for name in NAMES if parts[-1] in (name, commit(name)))
            folder = self.folder / name
            paths = [file.relative_to(folder).as_posix() for file in sorted(folder.rglob("*.*"))]
            files = [
                {"rfilename": path, "path": path, "type": "file", "size": (folder / path).stat().st_size, "oid": name}
                for path in paths
            ]
            about = {"id": "me/pairs", "sha": commit(name), "siblings": files}
            self._send(json.dumps(files if parts[4] == "tree" else about).encode())
        elif parts[:4] == ["datasets", "me", "pairs", "resolve"]:
            name = next(name for name in NAMES if parts[4] in (name, commit(name)))
            if (file := self.folder.joinpath(name, *parts[5:])).is_file():
                self._send(file.read_bytes(), commit(name))
            else:
                self._send_nothing()
        else:
            self._send_nothing()

    def do_HEAD(self) -> None:
        self.do_GET()

    def _send_nothing(self) -> None:
        self.send_response(404)
        self.send_header("X-Error-Code", "EntryNotFound")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self, content: bytes, of: str = "") -> None:
        self.send_response(200)
        for header, value in {
            "Content-Length": str(len(content)),
            "ETag": f'"{sha1(content).hexdigest()}"',
            **({"X-Repo-Commit": of} if of else {}),
        }.items():
            self.send_header(header, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)


def commit(name: str) -> str:
    return sha1(name.encode()).hexdigest()


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[str]:
    for name, sizes in REVISIONS.items():
        for number, tar in enumerate(sorted((write_shards(tmp_path / name, sizes) / "train").iterdir())):
            tar.rename(tmp_path / name / f"cc3m-train-{number:04}.tar")
    (write_winoground(tmp_path, packed="images/") / WINOGROUND / "README.md").write_text("not read")
    write_table(tmp_path / TABLE)
    handler = type("Here", (Hub,), {"folder": tmp_path})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def write_table(folder: Path) -> None:
    """Pictures with captions in one parquet file, and a file that is not read."""
    rows = [
        {"image": {"bytes": png(picture), "path": None}, "caption": f"thing {i}"}
        for i, picture in enumerate(pictures(100))
    ]
    folder.mkdir()
    pq.write_table(pa.Table.from_pylist(rows), folder / "train.parquet")
    (folder / "notes.bin").write_bytes(bytes(9_000_000))


def read(source: str, tmp_path: Path, code: str = READ, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HF_HOME": str(tmp_path / "home"), "BENCHSUITE_CACHE": str(tmp_path), **variables}
    environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    command = [sys.executable, "-c", code, source]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


@pytest.mark.slow
def test_a_dataset_of_the_hub_is_downloaded_once_and_a_revision_pins_it(hub: str, tmp_path: Path) -> None:
    newest = read("hub:me/pairs", tmp_path, HF_ENDPOINT=hub)
    assert newest.stdout.split()[1:] == ["9", "a", "thing,", "number", "8"], newest.stderr
    for which in ("hub:me/pairs@a-tag", f"hub:me/pairs@{commit('a-tag')}"):
        pinned = read(which, tmp_path, HF_ENDPOINT=hub)
        assert pinned.stdout.split()[1:] == ["5", "a", "thing,", "number", "4"], pinned.stderr
        assert pinned.stdout.split()[0] != newest.stdout.split()[0]
        assert read(which, tmp_path, HF_HUB_OFFLINE="1").stdout == pinned.stdout
    missing = read("hub:me/pairs@no-such", tmp_path, HF_ENDPOINT=hub)
    said = missing.stderr.strip().splitlines()[-1]
    assert "cc3m: me/pairs, revision no-such, is neither a folder nor a dataset that can be read from the hub" in said


@pytest.mark.slow
def test_a_dry_run_says_how_much_the_hub_has_and_fetches_nothing(hub: str, tmp_path: Path) -> None:
    environment = {**os.environ, "HF_HOME": str(tmp_path / "home"), "BENCHSUITE_CACHE": str(tmp_path)}
    environment |= {"PYTHONPATH": str(Path(__file__).parents[2]), "HF_ENDPOINT": hub}
    source = f"cc3m=hub:me/pairs@{commit('a-tag')}"
    command = [sys.executable, "-m", "benchsuite", "repro", "mm-ts/table1", "--scale", "paper", "--data", source]
    sizes = [file.stat().st_size for file in (tmp_path / "a-tag").glob("*.tar")]

    def dry_run() -> str:
        return subprocess.run([*command, "--dry-run"], env=environment, capture_output=True, text=True).stderr

    asked = dry_run()
    assert "neither a folder" not in asked, "the hub was read"
    assert f"cc3m: me/pairs has {sum(sizes) / 1e6:,.1f} MB in {len(sizes)} files that are not here" in asked
    assert f"hf download me/pairs --repo-type dataset --revision {commit('a-tag')}" in asked
    assert not [*(tmp_path / "home").rglob("*.tar")]
    read(source.removeprefix("cc3m="), tmp_path, HF_ENDPOINT=hub)
    assert [*(tmp_path / "home").rglob("*.tar")]
    assert "are not here" not in dry_run()
    environment["HF_ENDPOINT"] = "http://127.0.0.1:9"
    assert "cc3m:" not in dry_run(), "what is in the cache needs no hub"


@pytest.mark.slow
def test_a_dry_run_fetches_nothing_of_what_the_library_reads(hub: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    environment = {**os.environ, "HF_HOME": str(home), "BENCHSUITE_CACHE": str(tmp_path), "HF_ENDPOINT": hub}
    environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    command = [
        sys.executable,
        "-m",
        "benchsuite",
        "compare",
        "infonce",
        "ts",
        "--data",
        f"pairs=me/pairs@{commit(TABLE)}",
    ]

    def dry_run() -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command, "--dry-run"], env=environment, capture_output=True, text=True)

    asked = dry_run()
    size = (tmp_path / TABLE / "train.parquet").stat().st_size
    assert f"pairs: me/pairs has {size / 1e6:,.1f} MB in 1 files that are not here" in asked.stderr
    told = f"hf download me/pairs --repo-type dataset --include 'train.parquet' --revision {commit(TABLE)}"
    assert told in asked.stderr
    assert not [*home.rglob("*.parquet"), *home.rglob("*.arrow")]
    code = "import sys, datasets; datasets.load_dataset('me/pairs', revision=sys.argv[1])"
    assert read(commit(TABLE), tmp_path, code, HF_ENDPOINT=hub).returncode == 0
    assert [*home.rglob("*.arrow")]
    again = dry_run()
    assert again.returncode == 0, again.stderr
    shutil.rmtree(home / "hub")
    assert "are not here" not in dry_run().stderr, "the library has its copy"
    missing = subprocess.run(
        [*command[:-1], "pairs=me/pears", "--dry-run"], env=environment, capture_output=True, text=True
    )
    assert "pairs: me/pears is neither a folder nor a dataset that can be read from the hub" in missing.stderr


def test_datasets_that_name_a_source_pin_it_by_a_commit() -> None:
    sources = {name: card.about["hub"] for name, card in datasets.cards().items() if "hub" in card.about}
    assert {"cc3m", "cifar10", "cifar100"} <= {*sources}
    for name, source in sources.items():
        found = on_hub(f"hub:{source}")
        assert found
        assert re.fullmatch("[0-9a-f]{40}", found[1] or ""), name
        assert parse_folders([f"{name}=hub:"]) == {name: f"hub:{source}"}
        with pytest.raises(UsageError, match=rf"`--data {name}=hub:` takes {found[0]} from the hub"):
            create_dataset(name).manifest()


def test_a_dataset_of_shared_files_has_their_source() -> None:
    shared = {name: parse_folders([f"{name}=hub:"])[name] for name in ("cifar10", "cifar10-captions")}
    assert shared["cifar10"] == shared["cifar10-captions"]
    with pytest.raises(UsageError, match="`--data cifar10-captions=hub:` takes uoft-cs/cifar10"):
        create_dataset("cifar10-captions").manifest()


@pytest.mark.parametrize(
    ("name", "says"), [("cc12m", "hub: without a name is for cc3m, cifar10"), ("cc4m", 'Did you mean "cc3m"')]
)
def test_a_dataset_without_a_source_of_its_own_is_refused_with_those_that_have_one(name: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        parse_folders([f"{name}=hub:"])


@pytest.mark.slow
def test_winoground_of_the_hub_is_its_files(hub: str, tmp_path: Path) -> None:
    code = """
import sys
from benchsuite.data import create_dataset
from benchsuite.data.real.clip_benchmark import found_under
dataset = create_dataset("clip-benchmark", dataset="winoground", folder=sys.argv[1], size=6)
print(found_under(sys.argv[1], ["winoground"]), dataset.manifest().digest, len(dataset.read("test").images[:]))
"""
    here = read(str(tmp_path), tmp_path, code)
    found = read(f"hub:me/pairs@{WINOGROUND}", tmp_path, code, HF_ENDPOINT=hub)
    assert here.stdout == found.stdout, found.stderr
    assert found.stdout.endswith(" 4\n")
    assert not [*(tmp_path / "home").rglob("README.md")], "only what is read is fetched"
