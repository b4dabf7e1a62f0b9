"""One Sigstore bundle of GitHub's artifact attestations, verified offline with the library `sigstore`."""

import json
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from benchsuite.errors import UsageError
from benchsuite.files import read_stored

if TYPE_CHECKING:
    from cryptography.x509 import Certificate
    from sigstore.verify import Verifier
    from sigstore.verify.policy import VerificationPolicy

ISSUER = "https://token.actions.githubusercontent.com"
WORKFLOW = ".github/workflows/measure.yml"
"""The only workflow whose attestations count: it trains what it signs."""
BRANCH = "refs/heads/main"
"""On another branch the workflow's file could say anything."""
RUNNER = "github-hosted"
"""A machine of one's own could hand over made-up records."""
STATEMENT = "application/vnd.in-toto+json"
PREDICATE = "https://slsa.dev/provenance/v1"
PUBLIC = "https://tuf-repo-cdn.sigstore.dev"
"""The instance of Sigstore that signs for public repositories."""
COMMIT, RUN = "1.3.6.1.4.1.57264.1.13", "1.3.6.1.4.1.57264.1.21"
"""Of the certificate's extensions: the repository's commit, and the address of the workflow run."""


@dataclass(frozen=True)
class Signature:
    """Who signed: a run of the workflow, at a commit."""

    workflow_run: str
    commit: str


@dataclass(frozen=True)
class Trust:
    """The repository whose workflow is trusted, and a file with the trusted root; without one, the library's."""

    repository: str
    root: Path | None = None

    def verify(self, bundle: bytes, digest: str) -> Signature:
        """Who signed a statement about the file with this SHA-256; a ValueError says what does not hold.

        Checked: the certificate's chain at the time of signing, that a certificate log and a transparency log have it,
        its identity, the signature, and that the statement is about that file.
        """
        verifier = self._verifier
        from sigstore.errors import VerificationError
        from sigstore.models import Bundle

        try:
            parsed = Bundle.from_json(bundle)
            kind, payload = verifier.verify_dsse(parsed, self._policy)
            certificate = parsed.signing_certificate
            _require_about(kind, payload, digest)
            run = _extension(certificate, RUN)
            if not run.startswith(f"https://github.com/{self.repository}/actions/runs/"):
                raise ValueError(f"{run!r} is no workflow run of {self.repository}")
            return Signature(run, _extension(certificate, COMMIT))
        except VerificationError as error:
            raise ValueError(f"its signature is not valid: {error}") from error
        except Exception as error:  # anyone may have written it, and parsers raise a dozen kinds of errors
            reason = str(error).partition("\n")[0] or type(error).__name__
            raise ValueError(f"not a valid attestation: {reason}") from error

    @cached_property
    def _verifier(self) -> "Verifier":
        try:
            from sigstore.models import TrustedRoot
            from sigstore.verify import Verifier
        except ImportError as error:
            raise UsageError(
                "--provenance needs the package sigstore. Install it: pip install 'benchsuite[provenance]'."
            ) from error
        root = self.root or Path(str(files("sigstore") / "_store" / quote(PUBLIC, safe="") / "trusted_root.json"))
        try:
            read_stored(root)
            return Verifier(trusted_root=TrustedRoot.from_file(str(root)))
        except Exception as error:  # a user's file, read by parsers that raise a dozen kinds of errors
            raise UsageError(
                f"trusted root {root}: it cannot be used ({error}). Name one with --trusted-root."
            ) from error

    @property
    def _policy(self) -> "VerificationPolicy":
        """What the certificate must say."""
        from sigstore.verify import policy

        address = f"https://github.com/{self.repository}"
        return policy.AllOf(
            [
                policy.Identity(identity=f"{address}/{WORKFLOW}@{BRANCH}", issuer=ISSUER),
                policy.OIDCSourceRepositoryURI(address),
                policy.OIDCSourceRepositoryRef(BRANCH),
                policy.OIDCRunnerEnvironment(RUNNER),
            ]
        )


def _require_about(kind: str, payload: bytes, digest: str) -> None:
    statement = json.loads(payload)
    if kind != STATEMENT or statement["predicateType"] != PREDICATE:
        raise ValueError(f"it states {statement.get('predicateType')!r}, not how a file was built")
    if digest not in (subject["digest"].get("sha256") for subject in statement["subject"]):
        raise ValueError("the signed manifest is another one than that beside it")


def _extension(certificate: "Certificate", number: str) -> str:
    """A text of the certificate."""
    from cryptography.hazmat import asn1
    from cryptography.x509 import ObjectIdentifier, UnrecognizedExtension

    value = certificate.extensions.get_extension_for_oid(ObjectIdentifier(number)).value
    assert isinstance(value, UnrecognizedExtension)
    return asn1.decode_der(str, value.value)
