"""Which workflow run trained a record: Sigstore bundles over manifests, verified offline.

The workflow trains into an empty folder and signs the MANIFEST.json of that folder, so an attested manifest lists what
that one run trained and nothing else. Both files are kept in `attestations/`; later records change neither.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from benchsuite.errors import UsageError
from benchsuite.files import read_stored, reason_of
from benchsuite.records.manifest import Entry, FolderManifest, read_manifest
from benchsuite.records.names import ATTESTATIONS, ATTESTED, BUNDLE, attestation_files, stem
from benchsuite.records.record_file import FileError, Finding
from benchsuite.records.schema import Record
from benchsuite.records.sigstore_bundle import Signature, Trust

PUT_BACK = "put both files back as the workflow's pull request had them"


@dataclass(frozen=True)
class Provenance:
    """What the attestations of a folder say of its records."""

    signatures: Mapping[str, Signature] = field(default_factory=dict)
    """By run_id: who trained it. Records without a valid attestation are absent."""
    problems: list[Finding] = field(default_factory=list)
    notes: list[Finding] = field(default_factory=list)


def provenance(folder: Path, records: Iterable[Record], trust: Trust) -> Provenance:
    """Verify all attestations of a folder against its valid records."""
    signatures: dict[str, Signature] = {}
    found = Provenance(signatures)
    named = {f"{stem(record.method.name, record.seed, record.run_id)}.json": record for record in records}
    entries = {entry.run_id: (name, entry) for name, entry in FolderManifest.of(named).records.items()}
    for bundle in _bundles(folder, found):
        name = f"{ATTESTATIONS}/{bundle.name}"
        try:
            signature, manifest = _read(bundle, trust)
        except FileError as error:
            found.problems.append(Finding(f"{ATTESTATIONS}/{error.file.name}", error.reason, PUT_BACK))
            continue
        for entry in manifest.records.values():
            if entry.run_id not in entries:
                message = f"run {entry.run_id} is attested, and no valid record of it is here"
                found.notes.append(Finding(name, message, ""))
                continue
            file, here = entries[entry.run_id]
            if problem := _mismatch(here, entry, named[file], signature):
                found.problems.append(Finding(file, f"{problem} ({name})", "put the attested one back"))
            else:
                signatures[entry.run_id] = signature
    return found


def _bundles(folder: Path, found: Provenance) -> Iterator[Path]:
    """Bundles whose manifest is there; every other file is a problem or a note."""
    files = {file.name: file for file in attestation_files(folder)}
    for name, file in files.items():
        partner = (
            name.removesuffix(BUNDLE) + ATTESTED if name.endswith(BUNDLE) else name.removesuffix(ATTESTED) + BUNDLE
        )
        if not name.endswith((BUNDLE, ATTESTED)):
            found.notes.append(Finding(f"{ATTESTATIONS}/{name}", "not an attestation, ignored", ""))
        elif partner not in files:
            found.problems.append(Finding(f"{ATTESTATIONS}/{name}", f"{partner} is missing", PUT_BACK))
        elif name.endswith(BUNDLE):
            yield file


def _read(bundle: Path, trust: Trust) -> tuple[Signature, FolderManifest]:
    """Who signed, and the manifest that was signed; a FileError if either is not what it should be."""
    manifest = bundle.with_name(bundle.name.removesuffix(BUNDLE) + ATTESTED)
    contents = []
    for file in (bundle, manifest):
        try:
            contents.append(read_stored(file))
        except OSError as error:
            raise FileError(file, f"it cannot be read ({reason_of(error)})", PUT_BACK) from error
    try:
        signature = trust.verify(contents[0], sha256(contents[1]).hexdigest())
    except ValueError as error:
        raise FileError(bundle, str(error), PUT_BACK) from error
    return signature, read_manifest(manifest)


def _mismatch(here: Entry, attested: Entry, record: Record, signature: Signature) -> str:
    """Why the record is not the one that the workflow run trained; empty if it is."""
    if here != attested:
        return f"another record of run {here.run_id} than the attested one, whose digest is {attested.digest[:16]}"
    commit, dirty = record.environment.get("commit"), record.environment.get("dirty")
    if commit != signature.commit or dirty is not False:
        code = f"commit {commit}{' with changes' * bool(dirty)}" if commit else "an unknown commit"
        return f"it says that {code} trained it; the workflow run that signed it ran commit {signature.commit}"
    return ""


def trust_in(repository: str | None, root: Path | None = None) -> Trust:
    """The repository whose workflow is trusted; refused without one, because anyone can sign."""
    if not repository or repository.count("/") != 1 or not all(repository.split("/")):
        raise UsageError(
            "attestations need --repository OWNER/NAME, the GitHub repository whose workflow you trust: "
            "anyone can sign a manifest in a repository of their own."
        )
    return Trust(repository, root)
