"""Run the notebooks of this folder: python docs/notebooks/execute.py FOLDER writes them there with their outputs."""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent


def execute(file: Path, folder: Path) -> Any:
    """The notebook with its outputs, run in a folder beside `results`; a cell that fails raises CellExecutionError."""
    (folder / "results").symlink_to(HERE.parents[1] / "results")
    notebook = nbformat.read(file, as_version=4)
    # `!python` is this Python, whatever a kernel's specification says
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    client = NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}})
    client.execute(env={**os.environ, "PATH": path})
    return notebook


def main(to: Path) -> None:
    """All notebooks."""
    to.mkdir(parents=True, exist_ok=True)
    for file in sorted(HERE.glob("*.ipynb")):
        with TemporaryDirectory() as folder:
            nbformat.write(execute(file, Path(folder)), to / file.name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
