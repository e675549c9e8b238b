"""Authentication and TLS of Kafka clients."""

import ssl
from functools import cache
from pathlib import Path
from typing import Any, Literal

from aiokafka.abc import AbstractTokenProvider
from aiokafka.errors import KafkaError
from msgspec import Struct

from schemas.errors import Misconfigured
from streams.kafka.tokens import ClientCredentials, MskIam, SharedToken

Protocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
Mechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "AWS_MSK_IAM"]
BY_TOKEN = ("OAUTHBEARER", "AWS_MSK_IAM")
Extensions = tuple[tuple[str, str], ...]


class Security(Struct, frozen=True, kw_only=True):
    """Security settings with Kafka's own names and values. Files are PEM; without a CA file, the system's certificate
    authorities are trusted.

    The certificate and its key are for mutual TLS. With OAUTHBEARER, name and password are those of a client at an OpenID
    provider; AWS_MSK_IAM needs neither.
    """

    protocol: Protocol = "PLAINTEXT"
    mechanism: Mechanism = "SCRAM-SHA-512"
    username: str | None = None
    password: str | None = None
    ca_file: Path | None = None
    certificate_file: Path | None = None
    key_file: Path | None = None
    key_password: str | None = None
    token_url: str | None = None
    scope: str | None = None
    audience: str | None = None
    extensions: Extensions = ()
    token_ca_file: Path | None = None
    aws_region: str | None = None

    def __repr__(self) -> str:
        """Leaves secrets out: settings appear in tracebacks."""
        return f"Security(protocol={self.protocol!r}, username={self.username!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("protocol", self.protocol), ("username", self.username)]

    @property
    def encrypted(self) -> bool:
        return self.protocol in ("SSL", "SASL_SSL")

    @property
    def authenticated(self) -> bool:
        return self.protocol.startswith("SASL_")

    @property
    def by_token(self) -> bool:
        return self.authenticated and self.mechanism in BY_TOKEN

    def client(self) -> dict[str, Any]:
        """aiokafka's options; none for PLAINTEXT. Raises Misconfigured when a file cannot be used."""
        options: dict[str, Any] = {} if self.protocol == "PLAINTEXT" else {"security_protocol": self.protocol}
        if self.encrypted:
            options["ssl_context"] = self.context()
        if self.by_token:
            options |= {"sasl_mechanism": "OAUTHBEARER", "sasl_oauth_token_provider": self.tokens()}
        elif self.authenticated:
            options |= {
                "sasl_mechanism": self.mechanism,
                "sasl_plain_username": self.username,
                "sasl_plain_password": self.password,
            }
        return options

    def context(self) -> ssl.SSLContext:
        """The TLS context: TLS 1.2 or newer, with host name checks. Raises Misconfigured."""
        context = trusting(self.ca_file)
        if self.certificate_file is None:
            return context
        try:
            # Without a password OpenSSL would prompt on the terminal.
            context.load_cert_chain(self.certificate_file, self.key_file, self.key_password or "")
        except (OSError, ValueError) as exc:
            raise Misconfigured(
                f"the certificate {self.certificate_file} with the key {self.key_file} cannot be used, both take PEM, and an "
                f"encrypted key its password: {exc}"
            ) from exc
        return context

    async def token_problem(self) -> str | None:
        """The reason why no token can be fetched; None if one can, or none is needed. aiokafka only logs such errors."""
        if not self.by_token:
            return None
        try:
            await self.tokens().token()
        except KafkaError as exc:
            return str(exc)
        return None

    def tokens(self) -> AbstractTokenProvider:
        """The token provider, shared by the whole process. Raises Misconfigured when the CA file or a package is missing."""
        return shared_tokens(self)


@cache
def shared_tokens(security: Security) -> AbstractTokenProvider:
    if security.mechanism == "AWS_MSK_IAM":
        assert security.aws_region is not None
        signed = MskIam(region=security.aws_region)
        signed.signer()
        return SharedToken(signed.fetch)
    assert security.token_url is not None
    credentials = ClientCredentials(
        token_url=security.token_url,
        client_id=security.username or "",
        client_secret=security.password or "",
        scope=security.scope,
        audience=security.audience,
        context=None if security.token_ca_file is None else trusting(security.token_ca_file),
    )
    return SharedToken(credentials.fetch, dict(security.extensions))


def trusting(ca_file: Path | None) -> ssl.SSLContext:
    """A TLS context that trusts the authorities of the file, or the system's. Raises Misconfigured."""
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as exc:  # includes ssl.SSLError
        raise Misconfigured(f"the CA file {ca_file} cannot be used, it takes PEM certificates: {exc}") from exc
