"""A page for each notebook: its text, its code, and its outputs where it was executed before the build."""

import base64
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from generate.words import page

SOURCE = Path(__file__).parents[1] / "notebooks"
EXECUTED = "BENCHSUITE_NOTEBOOKS"
"""Environment variable: the folder that `docs/notebooks/execute.py` wrote. Without it, pages show no outputs."""
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def pages() -> dict[str, str]:
    """One for each notebook."""
    folder = os.environ.get(EXECUTED)
    files = [Path(folder or SOURCE) / file.name for file in sorted(SOURCE.glob("*.ipynb"))]
    return {f"notebooks/{file.stem}": page(*_page(file, executed=bool(folder))) for file in files}


def _page(file: Path, executed: bool) -> Iterator[str]:
    title, *cells = json.loads(file.read_text("utf-8"))["cells"]
    heading, _, rest = "".join(title["source"]).partition("\n")
    shown = "" if executed else " This build shows no outputs."
    yield from (heading, "", rest.strip(), "")
    yield from (f"This page is the notebook [{file.name}](../../notebooks/{file.name}); tests execute it.{shown}", "")
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield from (source, "")
            continue
        yield from ("```text" if source.startswith(("%", "!")) else "```python", source, "```", "")
        for output in cell["outputs"]:
            yield from _output(output)


def _output(output: dict[str, Any]) -> Iterator[str]:
    """Pictures, data frames and text. Notebooks are ours: their HTML is not a stranger's."""
    data = output.get("data", {})
    if "image/png" in data:
        picture = base64.b64encode(base64.b64decode("".join(data["image/png"]))).decode()
        yield from ("```{raw} html", f'<img alt="Plot of the cell above" src="data:image/png;base64,{picture}">', "```")
    elif "text/html" in data:
        frame = re.sub(r"<style scoped>.*?</style>", "", "".join(data["text/html"]), flags=re.S)
        yield from ("```{raw} html", re.sub(r"\n\s*", "", frame), "```")
    elif text := "".join(output.get("text", data.get("text/plain", ""))):
        yield from ("```text", ANSI.sub("", text).rstrip("\n"), "```")
    yield ""
