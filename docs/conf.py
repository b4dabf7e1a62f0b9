"""Sphinx: the pages of this folder, and the reference that `generate` makes from the code at each build."""

import sys
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

project = "benchsuite"
author = "the authors of benchsuite"
version = release = import_module("benchsuite").__version__
extensions = ["myst_parser", "generate"]
exclude_patterns = ["example-package", "generate", "notebooks"]
source_suffix = {".md": "markdown"}
html_theme = "furo"
html_title = f"benchsuite {version}"
html_favicon = "../benchsuite/report/static/icon.svg"
html_copy_source = html_show_sourcelink = html_show_copyright = smartquotes = False
templates_path = ["templates"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "leaderboard.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
# Nothing is loaded from other sites. Equations are MathML: myst and docutils roles for mathematics would need MathJax.
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline"]
highlight_language = "text"

# Only our own public names are pages here; those of torch, numpy, pandas and of our inner rooms have none.
nitpick_ignore_regex = [("py:.*", r"(?!benchsuite\.[A-Za-z_]+$).*")]
