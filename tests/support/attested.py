"""Results folders with attestations."""

import json
from pathlib import Path
from typing import Any

from benchsuite.evaluation.rank_metrics import RULES
from benchsuite.records.manifest import FolderManifest, write_manifest
from benchsuite.records.names import ATTESTATIONS, ATTESTED, BUNDLE, MANIFEST
from benchsuite.records.record_file import read_record
from benchsuite.verify.audit import audit_folder
from benchsuite.verify.audit_manifest import update_manifest
from support.signing import COMMIT, Sigstore

TRAINED_THERE = {"commit": COMMIT, "dirty": False}


def listed(results: Path) -> None:
    """List all records of a folder."""
    audit = audit_folder(results, RULES)
    update_manifest(audit, allow_removal=False)
    assert not audit.problems


def attest(results: Path, sigstore: Sigstore, name: str = "first", **changes: Any) -> None:
    """As the workflow does: the manifest as it is now, and its bundle."""
    content = (results / MANIFEST).read_bytes()
    place = results / ATTESTATIONS
    place.mkdir(exist_ok=True)
    (place / f"{name}{ATTESTED}").write_bytes(content)
    (place / f"{name}{BUNDLE}").write_text(json.dumps(sigstore.bundle(content, **changes)))


def list_unchecked(results: Path) -> None:
    """List records whose ranks do not give their numbers: what a page shows is not what `verify` checks."""
    records = {file.name: read_record(file) for file in results.glob("*.json") if file.name != MANIFEST}
    write_manifest(results / MANIFEST, FolderManifest.of(records))
