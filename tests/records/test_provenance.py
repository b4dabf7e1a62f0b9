"""Attestations, made by a Sigstore of our own: only its keys are ours, every check is the real one."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from support.attested import TRAINED_THERE, attest, listed
from support.edited import edit, file_of
from support.signing import ADDRESS, COMMIT, REPOSITORY, RUN, WHEN, Sigstore, b64

from benchsuite.errors import UsageError
from benchsuite.evaluation.rank_metrics import RULES
from benchsuite.records.names import ATTESTATIONS, ATTESTED, BUNDLE, MANIFEST
from benchsuite.records.provenance import Provenance, provenance, trust_in
from benchsuite.records.record_file import read_record
from benchsuite.records.schema import Record
from benchsuite.records.sigstore_bundle import Signature, Trust
from benchsuite.records.store import Store
from benchsuite.verify.audit import audit_folder
from benchsuite.verify.audit_manifest import check_manifest

Make = Callable[..., tuple[Record, bytes]]


@pytest.fixture(scope="module")
def sigstore() -> Sigstore:
    return Sigstore()


@pytest.fixture
def root(sigstore: Sigstore, tmp_path: Path) -> Path:
    file = tmp_path / "trusted_root.json"
    file.write_text(sigstore.root())
    return file


@pytest.fixture
def folder(tmp_path: Path, make_sound: Make, sigstore: Sigstore) -> Path:
    """Two records that a workflow run trained and attested."""
    results = tmp_path / "results"
    for seed in range(2):
        Store(results).write(*make_sound(seed, environment=TRAINED_THERE))
    listed(results)
    attest(results, sigstore)
    return results


def asked(results: Path, root: Path | None, repository: str = REPOSITORY) -> Provenance:
    return provenance(results, audit_folder(results, RULES).records.values(), trust_in(repository, root))


def seeds(results: Path, found: Provenance) -> set[int]:
    return {
        record.seed for record in audit_folder(results, RULES).records.values() if record.run_id in found.signatures
    }


def problem(results: Path, root: Path | None) -> str:
    found = asked(results, root)
    (told,) = found.problems
    return str(told)


def test_attested_records_name_the_workflow_run(folder: Path, root: Path) -> None:
    found = asked(folder, root)
    assert found.problems == found.notes == []
    assert set(found.signatures.values()) == {Signature(RUN, COMMIT)}
    assert seeds(folder, found) == {0, 1}


def test_a_record_stays_attested_when_others_are_added(folder: Path, root: Path, make_sound: Make) -> None:
    """And the new one is not: nobody signed that it was trained."""
    Store(folder).write(*make_sound(2, environment=TRAINED_THERE))
    listed(folder)
    found = asked(folder, root)
    assert found.problems == []
    assert seeds(folder, found) == {0, 1}


def test_two_attestations_cover_the_records_of_both(
    folder: Path, root: Path, sigstore: Sigstore, make_sound: Make
) -> None:
    later = folder.parent / "measured"
    Store(later).write(*make_sound(2, environment=TRAINED_THERE))
    listed(later)
    attest(later, sigstore, "second")
    Store(folder).write(*make_sound(2, environment=TRAINED_THERE))
    for file in (later / ATTESTATIONS).iterdir():
        file.rename(folder / ATTESTATIONS / file.name)
    assert seeds(folder, asked(folder, root)) == {0, 1, 2}


def test_the_manifest_lists_attestations_and_one_that_is_gone_is_found(folder: Path) -> None:
    listed(folder)
    for file in (folder / ATTESTATIONS).iterdir():
        file.unlink()
    audit = audit_folder(folder, RULES)
    check_manifest(audit)
    assert sorted(found.file for found in audit.problems) == [f"attestations/first{end}" for end in (ATTESTED, BUNDLE)]


CHANGES = {
    "identity": f"{ADDRESS}/.github/workflows/ci.yml@refs/heads/main",
    "issuer": "https://accounts.example",
    "repository": "https://github.com/stranger/leaderboard",
    "ref": "refs/heads/mine",
    "runner": "self-hosted",
}


@pytest.mark.parametrize("part", CHANGES)
def test_another_signer_is_refused(folder: Path, root: Path, sigstore: Sigstore, part: str) -> None:
    """Another workflow, issuer, repository, branch, or a machine of the signer's own."""
    attest(folder, sigstore, **{part: CHANGES[part]})
    told = problem(folder, root)
    assert told.startswith("attestations/first.sigstore.json: its signature is not valid: Certificate's ")
    assert CHANGES[part] in told
    assert not asked(folder, root).signatures


def test_the_workflow_of_another_branch_is_refused(folder: Path, root: Path, sigstore: Sigstore) -> None:
    attest(folder, sigstore, identity=f"{ADDRESS}/.github/workflows/measure.yml@refs/heads/mine")
    assert "SANs do not match" in problem(folder, root)


def test_another_repository_than_the_trusted_one_is_refused(folder: Path, root: Path) -> None:
    (found,) = asked(folder, root, "stranger/leaderboard").problems
    assert "SANs do not match" in found.message


def test_a_statement_of_another_kind_is_refused(folder: Path, root: Path, sigstore: Sigstore) -> None:
    attest(folder, sigstore, predicate="https://example.org/reviewed")
    assert "it states 'https://example.org/reviewed', not how a file was built" in problem(folder, root)


def test_only_the_address_of_a_workflow_run_becomes_a_link(folder: Path, root: Path, sigstore: Sigstore) -> None:
    attest(folder, sigstore, run="javascript:alert(1)")
    assert "'javascript:alert(1)' is no workflow run of somebody/leaderboard" in problem(folder, root)


def test_keys_of_another_instance_are_refused(folder: Path, root: Path) -> None:
    root.write_text(Sigstore().root())
    assert "failed to build timestamp certificate chain" in problem(folder, root)


@pytest.mark.parametrize(("part", "says"), [("certificates", "SCT"), ("log", "log entry")])
def test_logs_of_another_instance_are_refused(
    folder: Path, root: Path, sigstore: Sigstore, part: str, says: str
) -> None:
    """A certificate that its log does not have, and a signature that no transparency log has."""
    keys = vars(sigstore) | {part: vars(Sigstore())[part]}
    root.write_text(Sigstore(**keys).root())
    assert says in problem(folder, root)


def test_a_signature_after_the_certificate_ended_is_refused(folder: Path, root: Path, sigstore: Sigstore) -> None:
    attest(folder, sigstore, at=WHEN + timedelta(minutes=11))
    assert "its signature is not valid" in problem(folder, root)


def bundle_of(folder: Path) -> Path:
    return folder / ATTESTATIONS / f"first{BUNDLE}"


def test_a_changed_statement_is_refused(folder: Path, root: Path) -> None:
    def forge(content: dict[str, Any]) -> None:
        content["dsseEnvelope"]["payload"] = b64(b'{"_type": "https://in-toto.io/Statement/v1"}')

    edit(bundle_of(folder), forge)
    assert "DSSE: invalid signature" in problem(folder, root)


def test_a_signature_that_is_put_over_another_statement_is_refused(
    folder: Path, root: Path, sigstore: Sigstore
) -> None:
    """Certificate and log entry of the one, envelope of the other."""
    other = sigstore.bundle(b"something else")
    edit(bundle_of(folder), lambda content: content.update(dsseEnvelope=other["dsseEnvelope"]))
    assert "its signature is not valid" in problem(folder, root)


def test_an_attestation_of_another_manifest_is_refused(folder: Path, root: Path, make_sound: Make) -> None:
    """The record of seed 2 gets into the kept manifest, and nothing was signed about it."""
    Store(folder).write(*make_sound(2, environment=TRAINED_THERE))
    listed(folder)
    (folder / MANIFEST).rename(folder / ATTESTATIONS / f"first{ATTESTED}")
    assert "the signed manifest is another one than that beside it" in problem(folder, root)
    assert not asked(folder, root).signatures


def test_a_record_that_is_not_the_attested_one_is_a_problem(folder: Path, root: Path, make_sound: Make) -> None:
    attested = read_record(file_of(folder, 1)).digest
    file_of(folder, 1).unlink()
    replaced = Store(folder).write(*make_sound(1, environment=TRAINED_THERE, cost={"seconds": 9.0}))
    told = problem(folder, root)
    assert told.startswith(f"{replaced.name}: another record of run ")
    assert f"whose digest is {attested[:16]} (" in told
    assert seeds(folder, asked(folder, root)) == {0}


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({"commit": "d" * 40, "dirty": False}, f"commit {'d' * 40} trained it"),
        ({"commit": COMMIT, "dirty": True}, f"commit {COMMIT} with changes trained it"),
        ({"commit": COMMIT}, f"commit {COMMIT} trained it"),
        ({}, "an unknown commit trained it"),
    ],
)
def test_a_record_of_another_commit_than_the_workflow_run_is_a_problem(
    tmp_path: Path, root: Path, sigstore: Sigstore, make_sound: Make, environment: dict[str, Any], says: str
) -> None:
    """It was in the folder before: the workflow run signed it and did not train it."""
    results = tmp_path / "other"
    Store(results).write(*make_sound(0, environment=environment))
    listed(results)
    attest(results, sigstore)
    told = problem(results, root)
    assert says in told
    assert f"ran commit {COMMIT}" in told
    assert not asked(results, root).signatures


def test_a_run_that_is_gone_is_a_note(folder: Path, root: Path) -> None:
    file_of(folder, 0).unlink()
    found = asked(folder, root)
    assert found.problems == []
    assert next(note.message for note in found.notes).endswith("is attested, and no valid record of it is here")
    assert seeds(folder, found) == {1}


@pytest.mark.parametrize("ending", [ATTESTED, BUNDLE])
def test_half_an_attestation_is_a_problem(folder: Path, root: Path, ending: str) -> None:
    (folder / ATTESTATIONS / f"first{ending}").unlink()
    assert f"first{ending} is missing" in problem(folder, root)
    assert not asked(folder, root).signatures


def test_one_damaged_attestation_hides_no_other(folder: Path, root: Path, sigstore: Sigstore) -> None:
    attest(folder, sigstore, "second")
    for damage in ("", "{", "[]", "{}", '{"mediaType": 5}', bundle_of(folder).read_text()[:-9], "[" * 50_000):
        bundle_of(folder).write_text(damage)
        assert problem(folder, root).startswith("attestations/first.sigstore.json: ")
        assert seeds(folder, asked(folder, root)) == {0, 1}


def test_a_device_a_pipe_and_a_large_file_are_not_opened(folder: Path, root: Path) -> None:
    bundle_of(folder).unlink()
    bundle_of(folder).symlink_to("/dev/zero")
    assert "no regular file" in problem(folder, root)
    bundle_of(folder).unlink()
    with bundle_of(folder).open("wb") as file:
        file.truncate(9 << 20)
    assert "at most 8,388,608 are read" in problem(folder, root)


def test_a_signed_manifest_that_is_none_is_a_problem(folder: Path, root: Path, sigstore: Sigstore) -> None:
    (folder / MANIFEST).write_text('{"file_format": 1}')
    attest(folder, sigstore)
    assert problem(folder, root).startswith("attestations/first.manifest.json: ")


def test_other_files_are_noted(folder: Path, root: Path) -> None:
    (folder / ATTESTATIONS / "mine.json").write_text("{}")
    found = asked(folder, root)
    assert [str(note) for note in found.notes] == ["attestations/mine.json: not an attestation, ignored"]


@pytest.mark.parametrize("repository", [None, "", "leaderboard", "a/b/c", "/b", "a/"])
def test_nobody_is_trusted_by_default(repository: str | None) -> None:
    with pytest.raises(UsageError, match="attestations need --repository OWNER/NAME"):
        trust_in(repository, None)


def test_the_library_has_the_keys_of_the_public_instance(folder: Path) -> None:
    """With these, attestations of public repositories are verified; ours are of nobody that they know."""
    assert "failed to build timestamp certificate chain" in problem(folder, None)


def test_a_trusted_root_that_is_none_is_refused(folder: Path, root: Path) -> None:
    root.write_text("{}")
    with pytest.raises(UsageError, match="it cannot be used"):
        asked(folder, root)


def test_trust_is_what_was_named() -> None:
    assert trust_in("a/b", Path("x")) == Trust("a/b", Path("x"))
