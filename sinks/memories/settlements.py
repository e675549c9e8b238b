"""Settled parts of extractions and settled commands, each recorded once, and which part completed its request."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from schemas.extraction.candidates import CandidateBatch
from sinks.postgres.connection import Connection, storable
from sinks.postgres.queries import query


class Part(Struct, frozen=True, kw_only=True):
    """Identifies a part of a request: a candidate batch without its candidates.

    The field names are those of CandidateBatch, so that it decodes from a batch whose candidates do not decode.
    """

    request_id: str
    conversation_id: str
    partition: int
    namespace: str
    part: int
    parts: int
    policy: str = ""
    policy_version: int = 0
    provider: str = ""

    @classmethod
    def of(cls, batch: CandidateBatch) -> "Part":
        return msgspec.convert(batch, cls, from_attributes=True)


class Settlements:
    """Reads and writes within a deciding transaction that holds the lock of the namespace."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def of_part(self, part: Part) -> Any | None:
        """The recorded outcome, as builtins."""
        return await self._connection.fetchval(query("extractions", "part"), part.request_id, part.part)

    async def record_part(self, part: Part, outcome: Any, at: datetime) -> bool:
        """Records the part; True if it completes the request, which happens once.

        Parts of one request commit concurrently in different namespaces. The row of the request is locked, always after the
        namespace, so parts count one after the other and exactly one of them completes it.
        """
        execute, fetchval = self._connection.execute, self._connection.fetchval
        await execute(query("extractions", "ensure"), *ensure_part(part))
        completed_at = await fetchval(query("extractions", "lock"), part.request_id)
        await execute(query("extractions", "record_part"), *(part.request_id, part.part, part.namespace, outcome, at))
        settled = await fetchval(query("extractions", "count_parts"), part.request_id)
        if completed_at is not None or settled < part.parts:
            return False
        await execute(query("extractions", "complete"), part.request_id, at)
        return True

    async def results(self, request_id: str) -> dict[str, int]:
        """The number of a request's candidates by result, over all recorded parts."""
        rows = await self._connection.fetch(query("extractions", "results"), request_id)
        return {row["result"]: row["candidates"] for row in rows}

    async def of_command(self, namespace: str, command_id: str) -> Any | None:
        """The recorded outcome, as builtins. Senders choose command ids, so these are unique only within a namespace."""
        return await self._connection.fetchval(query("commands", "outcome"), namespace, command_id)

    async def of_commands(self, namespace: str, command_ids: Collection[str]) -> set[str]:
        """The outcomes of those commands that have one."""
        ids = list(map(storable, command_ids))
        rows = await self._connection.fetch(query("commands", "settled"), namespace, ids)
        settled = {row["command_id"] for row in rows}
        return {each for each in command_ids if storable(each) in settled}

    async def record_commands(self, namespace: str, outcomes: Mapping[str, Any], at: datetime) -> None:
        """Records the outcomes of several commands, by id."""
        command_ids = list(map(storable, outcomes))
        await self._connection.execute(query("commands", "record"), namespace, command_ids, list(outcomes.values()), at)

    async def record_command(self, namespace: str, command_id: str, outcome: Any, at: datetime) -> None:
        await self.record_commands(namespace, {command_id: outcome}, at)


def ensure_part(part: Part) -> tuple[Any, ...]:
    request = (part.request_id, part.conversation_id, part.partition)
    return (*request, part.policy, part.policy_version, part.provider, part.parts)
