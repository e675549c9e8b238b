"""Tokens of Kafka clients: from an OpenID provider, or signed for Amazon MSK.

One token serves all connections of a process for most of its lifetime. aiokafka asks for it at each new connection.
"""

import asyncio
import math
import threading
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from ssl import SSLContext
from types import MappingProxyType
from typing import Any, NamedTuple

import httpx2
from aiokafka.abc import AbstractTokenProvider
from aiokafka.errors import SaslAuthenticationFailed
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import OAuth2Client
from msgspec import Struct

from schemas.errors import Misconfigured

USED_SHARE = 0.8  # of a token's lifetime; the rest allows for clock differences and the login itself
WITHIN_S = 10.0


class Token(NamedTuple):
    value: str
    lives_s: float


class ClientCredentials(Struct, frozen=True, kw_only=True):
    """Fetches tokens from an OpenID provider's endpoint with the grant `client_credentials`."""

    token_url: str
    client_id: str
    client_secret: str
    scope: str | None = None
    audience: str | None = None
    context: SSLContext | None = None

    def fetch(self) -> Token:
        """Fetches a token; blocks. Raises SaslAuthenticationFailed with the endpoint's error and without the secret."""
        about = {"audience": self.audience} if self.audience else {}
        try:
            with OAuth2Client(
                self.client_id,
                self.client_secret,
                scope=self.scope,
                verify=True if self.context is None else self.context,
                timeout=WITHIN_S,
            ) as client:
                answer = client.fetch_token(self.token_url, grant_type="client_credentials", **about)
            return Token(answer["access_token"], float(answer.get("expires_in") or 0))
        except (AuthlibBaseError, httpx2.HTTPError, httpx2.InvalidURL, KeyError, ValueError, TypeError) as exc:
            raise SaslAuthenticationFailed(
                f"no token for the client {self.client_id!r} from {self.token_url}: {reason(exc)}"
            ) from exc


class MskIam(Struct, frozen=True, kw_only=True):
    """Signs tokens for Amazon MSK with the AWS credentials of the environment: role, profile or variables."""

    region: str

    def fetch(self) -> Token:
        """Signs a token; blocks while AWS credentials are fetched. Raises SaslAuthenticationFailed."""
        try:
            value, until_ms = self.signer().generate_auth_token(self.region)
        except Exception as exc:
            raise SaslAuthenticationFailed(f"no AWS credentials to sign a login at MSK with: {reason(exc)}") from exc
        return Token(value, until_ms / 1000 - time.time())

    @staticmethod
    def signer() -> Any:
        """The signer's module. Raises Misconfigured without the extra."""
        try:
            return import_module("aws_msk_iam_sasl_signer.MSKAuthTokenProvider")
        except ImportError as exc:
            raise Misconfigured(
                "KAFKA_SASL_MECHANISM=AWS_MSK_IAM needs the package aws-msk-iam-sasl-signer-python: "
                "install memstream with the extra msk"
            ) from exc


class SharedToken(AbstractTokenProvider):
    """One token at a time for all connections, whichever thread and event loop they belong to."""

    def __init__(
        self,
        fetch: Callable[[], Token],
        extensions: Mapping[str, str] = MappingProxyType({}),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fetch = fetch
        self._extensions = dict(extensions)
        self._clock = clock
        self._lock = threading.Lock()
        self._token = ""
        self._until = -math.inf

    async def token(self) -> str:
        """The current token, or a new one. Raises SaslAuthenticationFailed."""
        return await asyncio.to_thread(self._current)

    def _current(self) -> str:
        with self._lock:  # concurrent callers wait for the same token
            if self._clock() >= self._until:
                requested_at = self._clock()
                self._token, lives_s = self._fetch()
                self._until = requested_at + lives_s * USED_SHARE
            return self._token

    def extensions(self) -> dict[str, str]:
        return self._extensions


def reason(exc: Exception) -> str:
    return str(exc) if isinstance(exc, AuthlibBaseError) else f"{type(exc).__name__}: {exc}"
