"""A client of a Confluent schema registry: reads schemas by number and registers memstream's own."""

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import httpx2
from authlib.common.errors import AuthlibBaseError
from confluent_kafka.schema_registry import AsyncSchemaRegistryClient, Schema, SchemaReference
from confluent_kafka.schema_registry.error import SchemaRegistryError
from msgspec import Struct

from schemas.errors import MemstreamError, Misconfigured, Rejected, Retryable
from streams.kafka.wire_format import RegisteredSchema

NOT_FOUND: Final = 404
REFUSED: Final = (409, 422)
LOGIN_REFUSED: Final = (401, 403)
TIMEOUT_S: Final = 10
RETRIES: Final = 2
DEEPEST: Final = 32  # the deepest chain of references
AWAY = (httpx2.HTTPError, OSError, AuthlibBaseError)


class RegistrySettings(Struct, frozen=True, kw_only=True):
    url: str
    username: str | None = None
    password: str | None = None
    ca_file: Path | None = None

    def client(self) -> dict[str, Any]:
        """The settings in the terms of Confluent's client."""
        options: dict[str, Any] = {"url": self.url, "timeout": TIMEOUT_S, "max.retries": RETRIES}
        if self.username is not None:
            options["basic.auth.user.info"] = f"{self.username}:{self.password}"
        if self.ca_file is not None:
            options["ssl.ca.location"] = str(self.ca_file)
        return options


class SchemaRegistry:
    """Implements streams.kafka.wire_format.Registry. Use with `async with`."""

    def __init__(self, settings: RegistrySettings) -> None:
        self._url = settings.url
        try:
            self._client = AsyncSchemaRegistryClient(settings.client())
        except (OSError, ValueError) as exc:
            raise Misconfigured(f"the schema registry {settings.url} cannot be used: {exc}") from exc

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.aclose()

    async def schema(self, number: int) -> RegisteredSchema:
        try:
            # Protobuf schemas are requested as descriptors; other kinds have one form.
            found = await self._client.get_schema(number, fmt="serialized")
            references: dict[str, str] = {}
            await self._refer(found.references or [], references, 0)
        except SchemaRegistryError as exc:
            if exc.http_status_code == NOT_FOUND:
                raise Rejected(
                    "unknown_schema", f"{self._url} does not know schema {number}: {exc.error_message}"
                ) from exc
            raise self._failed(f"asked for schema {number}", exc) from exc
        except AWAY as exc:
            raise self._failed(f"asked for schema {number}", exc) from exc
        return RegisteredSchema(kind=found.schema_type or "AVRO", text=found.schema_str or "", references=references)

    async def _refer(self, references: list[SchemaReference], into: dict[str, str], depth: int) -> None:
        if depth > DEEPEST:
            raise Rejected("unknown_schema", f"references of schemas are nested deeper than {DEEPEST}")
        for reference in references:
            if reference.name in into:
                continue
            found = await self._client.get_version(reference.subject, reference.version, fmt="serialized")
            await self._refer(found.schema.references or [], into, depth + 1)
            into[reference.name] = found.schema.schema_str

    async def register(self, schemas: Mapping[str, str]) -> dict[str, int]:
        """Registers JSON Schemas by subject and returns the number of each; a known schema keeps its number. Raises
        Misconfigured for a schema that the registry refuses."""
        numbers = {}
        for subject, text in schemas.items():
            try:
                numbers[subject] = await self._client.register_schema(subject, Schema(text, "JSON"))
            except SchemaRegistryError as exc:
                if exc.http_status_code in REFUSED:
                    raise Misconfigured(
                        f"{self._url} does not take the schema of {subject}: {exc.error_message}"
                    ) from exc
                raise self._failed(f"given the schema of {subject}", exc) from exc
            except AWAY as exc:
                raise self._failed(f"given the schema of {subject}", exc) from exc
        return numbers

    async def lacks(self, schemas: Mapping[str, str]) -> list[str]:
        """Subjects under which these JSON Schemas are not registered. Raises Misconfigured if the login is refused,
        Retryable if the registry is away."""
        return [subject for subject, text in schemas.items() if not await self._has(subject, text)]

    async def _has(self, subject: str, text: str) -> bool:
        try:
            await self._client.lookup_schema(subject, Schema(text, "JSON"))
        except SchemaRegistryError as exc:
            if exc.http_status_code == NOT_FOUND:
                return False
            if exc.http_status_code in LOGIN_REFUSED:
                raise Misconfigured(
                    f"the schema registry {self._url} refuses the login: {exc.error_message or exc.http_status_code}"
                ) from exc
            raise self._failed(f"asked for the schema of {subject}", exc) from exc
        except AWAY as exc:
            raise self._failed(f"asked for the schema of {subject}", exc) from exc
        return True

    def _failed(self, how: str, exc: Exception) -> MemstreamError:
        return Retryable(f"the schema registry {self._url}, {how}, failed: {exc or type(exc).__name__}")
