"""Croissant: what an exported table of all runs is, as search engines and libraries for datasets read it.

https://docs.mlcommons.org/croissant/docs/croissant-spec.html, version 1.0; `mlcroissant` opens what is written here.
"""

import json
import tomllib
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from benchsuite import __version__
from benchsuite.files import packaged

if TYPE_CHECKING:
    from pandas import DataFrame

FILE = "croissant.json"
CONTEXT = json.loads(packaged("report/croissant_context.json"))
"""The specification's, whole: readers compare it."""
KINDS = {"f": "sc:Float", "i": "sc:Integer", "u": "sc:Integer", "b": "sc:Boolean"}
"""By numpy's letter for a column's type; any other column is text."""
COLUMNS = tomllib.loads(packaged("report/croissant_columns.toml"))
"""What the columns are whose names do not say it."""


def croissant(frame: "DataFrame", file: str, content: bytes) -> str:
    """The metadata of a CSV file of all runs, as JSON-LD."""
    fields = [_field(str(name), frame[name].dtype.kind, file) for name in frame.columns]
    distribution = {
        "@type": "cr:FileObject",
        "@id": file,
        "name": file,
        "contentUrl": file,
        "contentSize": f"{len(content)} B",
        "encodingFormat": "text/csv",
        "sha256": sha256(content).hexdigest(),
    }
    papers = sorted({str(name) for name in frame["paper"].dropna()})
    about = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "benchsuite-results",
        "description": f"{frame['run_id'].nunique()} runs of {frame['method'].nunique()} contrastive-learning methods "
        f"under identical setups (tables of {', '.join(papers) or 'no paper'}): a row for each run and metric.",
        "version": __version__,
        "citeAs": f"The benchsuite authors: benchsuite {__version__}, published results",
        "datePublished": datetime.now(UTC).date().isoformat(),
        "license": "https://spdx.org/licenses/Apache-2.0",
        "distribution": [distribution],
        "recordSet": [{"@type": "cr:RecordSet", "@id": "results", "name": "results", "field": fields}],
    }
    return json.dumps(about, indent=1, ensure_ascii=False) + "\n"


def _field(name: str, kind: str, file: str) -> dict[str, Any]:
    said = COLUMNS.get(name, f"Hyper-parameter {name[3:]}." if name.startswith("hp_") else f"{name}.".capitalize())
    return {
        "@type": "cr:Field",
        "@id": f"results/{name}",
        "name": name,
        "description": said,
        "dataType": KINDS.get(kind, "sc:Text"),
        "source": {"fileObject": {"@id": file}, "extract": {"column": name}},
    }
