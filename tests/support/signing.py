"""Sigstore in a box: a certificate authority, a certificate log and a transparency log with keys of their own.

Bundles are made as GitHub's attestations are: nothing of their verification is replaced, only the trusted root.
"""

import base64
import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

REPOSITORY = "somebody/leaderboard"
ADDRESS = f"https://github.com/{REPOSITORY}"
RUN = f"{ADDRESS}/actions/runs/7/attempts/1"
COMMIT = "c" * 40
MAIN = "refs/heads/main"
WHEN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
FULCIO = "1.3.6.1.4.1.57264.1."
CLAIMS = {
    "identity": f"{ADDRESS}/.github/workflows/measure.yml@{MAIN}",
    "issuer": "https://token.actions.githubusercontent.com",
    "repository": ADDRESS,
    "ref": MAIN,
    "runner": "github-hosted",
    "commit": COMMIT,
    "run": RUN,
    "predicate": "https://slsa.dev/provenance/v1",
}
NUMBERS = {"runner": 11, "repository": 12, "commit": 13, "ref": 14, "run": 21}
"""Of Fulcio's extensions."""


def key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def spki(private: ec.EllipticCurvePrivateKey) -> bytes:
    return private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def sign(private: ec.EllipticCurvePrivateKey, content: bytes) -> bytes:
    return private.sign(content, ec.ECDSA(SHA256()))


def b64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def der(tag: int, content: bytes) -> bytes:
    length = len(content)
    size = bytes([length]) if length < 128 else bytes([0x82, *length.to_bytes(2, "big")])
    return bytes([tag]) + size + content


@dataclass(frozen=True)
class Sigstore:
    """Keys of an instance."""

    authority: ec.EllipticCurvePrivateKey = field(default_factory=key)
    certificates: ec.EllipticCurvePrivateKey = field(default_factory=key)
    log: ec.EllipticCurvePrivateKey = field(default_factory=key)

    def root(self) -> str:
        """The trusted root, as a file has it."""
        since = {"start": "2020-01-01T00:00:00Z"}

        def instance(private: ec.EllipticCurvePrivateKey) -> dict[str, Any]:
            return {
                "baseUrl": "https://log.example",
                "hashAlgorithm": "SHA2_256",
                "publicKey": {
                    "rawBytes": b64(spki(private)), "keyDetails": "PKIX_ECDSA_P256_SHA_256", "validFor": since,
                },
                "logId": {"keyId": b64(sha256(spki(private)).digest())},
            }  # fmt: skip

        chain = [{"rawBytes": b64(self._issuer().public_bytes(Encoding.DER))}]
        authority = {
            "subject": {"organization": "test", "commonName": "test"},
            "uri": "https://authority.example",
            "certChain": {"certificates": chain},
            "validFor": since,
        }
        return json.dumps(
            {
                "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
                "tlogs": [instance(self.log)],
                "certificateAuthorities": [authority],
                "ctlogs": [instance(self.certificates)],
                "timestampAuthorities": [],
            }
        )

    def bundle(self, content: bytes, at: datetime = WHEN, **changes: str) -> dict[str, Any]:
        """An attestation of a file, as GitHub's action writes it; `changes` are of what the certificate says."""
        claims = CLAIMS | changes
        return self.signed(json.dumps(statement(content, claims["predicate"])).encode(), at, claims)

    def signed(self, payload: bytes, at: datetime = WHEN, claims: Mapping[str, str] = CLAIMS) -> dict[str, Any]:
        """A bundle that signs any bytes as a statement."""
        private = key()
        certificate = self._certificate(private, claims)
        kind = "application/vnd.in-toto+json"
        signature = b64(sign(private, b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(payload), payload)))
        pem = certificate.public_bytes(Encoding.PEM)
        body = {
            "apiVersion": "0.0.1",
            "kind": "dsse",
            "spec": {
                "envelopeHash": {"algorithm": "sha256", "value": "0" * 64},
                "payloadHash": {"algorithm": "sha256", "value": sha256(payload).hexdigest()},
                "signatures": [{"signature": signature, "verifier": b64(pem)}],
            },
        }
        return {
            "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
            "verificationMaterial": {
                "certificate": {"rawBytes": b64(certificate.public_bytes(Encoding.DER))},
                "tlogEntries": [self._entry(json.dumps(body).encode(), int(at.timestamp()))],
            },
            "dsseEnvelope": {"payload": b64(payload), "payloadType": kind, "signatures": [{"sig": signature}]},
        }

    def _issuer(self) -> x509.Certificate:
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test authority")])
        return (
            x509.CertificateBuilder(name, name, self.authority.public_key(), 1, WHEN - timedelta(days=9), FOREVER)
            .add_extension(x509.BasicConstraints(ca=True, path_length=1), critical=True)
            .add_extension(usage(signs_certificates=True), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self.authority.public_key()), critical=False)
            .sign(self.authority, SHA256())
        )

    def _certificate(self, private: ec.EllipticCurvePrivateKey, claims: Mapping[str, str]) -> x509.Certificate:
        """Of ten minutes, with a promise of the certificate log."""
        issuer = self._issuer()
        known = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.authority.public_key())
        builder = (
            x509.CertificateBuilder(
                issuer.subject, x509.Name([]), private.public_key(), 2, WHEN, WHEN + timedelta(minutes=10)
            )
            .add_extension(usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CODE_SIGNING]), critical=False)
            .add_extension(known, critical=False)
            .add_extension(
                x509.SubjectAlternativeName([x509.UniformResourceIdentifier(claims["identity"])]), critical=True
            )
        )
        texts = {1: claims["issuer"].encode()}
        texts |= {number: der(0x0C, claims[name].encode()) for name, number in NUMBERS.items()}
        for number, text in texts.items():
            unknown = x509.UnrecognizedExtension(x509.ObjectIdentifier(f"{FULCIO}{number}"), text)
            builder = builder.add_extension(unknown, critical=False)
        content = builder.sign(self.authority, SHA256()).tbs_certificate_bytes
        promise = x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2"), self._promise(content))
        return builder.add_extension(promise, critical=False).sign(self.authority, SHA256())

    def _promise(self, content: bytes) -> bytes:
        """A signed certificate timestamp (RFC 6962), in a list of one."""
        moment = struct.pack("!Q", int(WHEN.timestamp() * 1000))
        issuer = sha256(spki(self.authority)).digest()
        signed = b"\0\0" + moment + b"\0\1" + issuer + len(content).to_bytes(3, "big") + content + b"\0\0"
        signature = sign(self.certificates, signed)
        head = b"\0" + sha256(spki(self.certificates)).digest() + moment + b"\0\0"
        stamp = head + b"\4\3" + struct.pack("!H", len(signature)) + signature
        listed = struct.pack("!H", len(stamp)) + stamp
        return der(0x04, struct.pack("!H", len(listed)) + listed)

    def _entry(self, body: bytes, at: int) -> dict[str, Any]:
        """Of a transparency log that has nothing else."""
        number = sha256(spki(self.log)).digest()
        leaf = sha256(b"\0" + body).digest()
        note = f"log.example\n1\n{b64(leaf)}\n"
        mark = b64(number[:4] + sign(self.log, note.encode()))
        promised = {"body": b64(body), "integratedTime": at, "logID": number.hex(), "logIndex": 0}
        canonical = json.dumps(promised, separators=(",", ":"), sort_keys=True).encode()
        return {
            "logIndex": "0",
            "logId": {"keyId": b64(number)},
            "kindVersion": {"kind": "dsse", "version": "0.0.1"},
            "integratedTime": str(at),
            "inclusionPromise": {"signedEntryTimestamp": b64(sign(self.log, canonical))},
            "inclusionProof": {
                "logIndex": "0",
                "rootHash": b64(leaf),
                "treeSize": "1",
                "hashes": [],
                "checkpoint": {"envelope": f"{note}\n\N{EM DASH} log.example {mark}\n"},
            },
            "canonicalizedBody": b64(body),
        }


def statement(content: bytes, predicate: str = CLAIMS["predicate"]) -> dict[str, Any]:
    """What is signed: that a file was built."""
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "MANIFEST.json", "digest": {"sha256": sha256(content).hexdigest()}}],
        "predicateType": predicate,
        "predicate": {},
    }


FOREVER = datetime(2090, 1, 1, tzinfo=UTC)


def usage(signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates, key_cert_sign=signs_certificates, crl_sign=signs_certificates,
        content_commitment=False, key_encipherment=False, data_encipherment=False, key_agreement=False,
        encipher_only=False, decipher_only=False,
    )  # fmt: skip
