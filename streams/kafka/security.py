"""How Kafka clients prove who they are and whom they trust."""

import ssl
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from schemas.errors import Misconfigured

Protocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
Mechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]


class Security(Struct, frozen=True, kw_only=True):
    """Kafka's own names and values. Files are PEM; without a CA file, the system's authorities are trusted.

    The certificate and its key are for brokers that ask clients for one (mutual TLS).
    """

    protocol: Protocol = "PLAINTEXT"
    mechanism: Mechanism = "SCRAM-SHA-512"
    username: str | None = None
    password: str | None = None
    ca_file: Path | None = None
    certificate_file: Path | None = None
    key_file: Path | None = None
    key_password: str | None = None

    def __repr__(self) -> str:
        """Without what is secret: settings end up in tracebacks."""
        return f"Security(protocol={self.protocol!r}, username={self.username!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("protocol", self.protocol), ("username", self.username)]

    @property
    def encrypted(self) -> bool:
        return self.protocol in ("SSL", "SASL_SSL")

    @property
    def authenticated(self) -> bool:
        """By name and password."""
        return self.protocol.startswith("SASL_")

    def client(self) -> dict[str, Any]:
        """aiokafka's options; none for PLAINTEXT. Raises Misconfigured when a file cannot be used."""
        options: dict[str, Any] = {} if self.protocol == "PLAINTEXT" else {"security_protocol": self.protocol}
        if self.encrypted:
            options["ssl_context"] = self.context()
        if self.authenticated:
            options |= {
                "sasl_mechanism": self.mechanism,
                "sasl_plain_username": self.username,
                "sasl_plain_password": self.password,
            }
        return options

    def context(self) -> ssl.SSLContext:
        """TLS 1.2 or newer; the broker's certificate must be for the name that it is reached by. Raises Misconfigured."""
        try:
            context = ssl.create_default_context(cafile=self.ca_file)
        except OSError as exc:  # ssl.SSLError is one
            raise Misconfigured(f"the CA file {self.ca_file} cannot be used, it takes PEM certificates: {exc}") from exc
        if self.certificate_file is None:
            return context
        try:
            # Without a password OpenSSL would ask for it on the terminal.
            context.load_cert_chain(self.certificate_file, self.key_file, self.key_password or "")
        except (OSError, ValueError) as exc:
            raise Misconfigured(
                f"the certificate {self.certificate_file} with the key {self.key_file} cannot be used, both take PEM, and an "
                f"encrypted key its password: {exc}"
            ) from exc
        return context
