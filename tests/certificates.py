"""A certificate authority for one test, and certificates of brokers and clients, as PEM files."""

from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID

from deploy.embedded.ports import LOOPBACK


class Authority:
    """Issues certificates that are valid for a day; `file` is its own certificate."""

    def __init__(self, directory: Path, name: str = "authority") -> None:
        self._directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = named(name)
        own = certificate(self._name, self._name, self._key.public_key(), authority=True)
        self._certificate = own.sign(self._key, hashes.SHA256())
        self.file = self._written(f"{name}.pem", self._certificate.public_bytes(Encoding.PEM))

    def issue(self, name: str, password: str | None = None) -> tuple[Path, Path]:
        """Writes a certificate for 127.0.0.1 and its key, which `password` encrypts; returns both files."""
        key = ec.generate_private_key(ec.SECP256R1())
        signed = certificate(named(name), self._name, key.public_key()).sign(self._key, hashes.SHA256())
        how: KeySerializationEncryption = BestAvailableEncryption(password.encode()) if password else NoEncryption()
        return (
            self._written(f"{name}.pem", signed.public_bytes(Encoding.PEM)),
            # The form that Java reads.
            self._written(f"{name}.key", key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, how)),
        )

    def _written(self, name: str, content: bytes) -> Path:
        path = self._directory / name
        path.write_bytes(content)
        return path


def certificate(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, authority: bool = False
) -> x509.CertificateBuilder:
    start = datetime.now(UTC) - timedelta(minutes=5)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address(LOOPBACK))]), critical=False)
    )


def named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
