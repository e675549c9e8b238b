"""Erases a namespace: fences it first, then removes page by page what was stored, and tells of it without a word of content."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import TypeAlias

from msgspec.structs import replace

from agents.curation import change, notices
from agents.curation.outcome import Outcome
from schemas.events import Cause
from schemas.policies import Choosing
from schemas.requests import Command
from sinks import changes, generations
from sinks.outbox import put_records
from sinks.postgres import Connection
from sinks.purges import Purges
from sinks.settlements import Settlements

# The transaction that holds a namespace's lock, with what is pending projected before and after it.
Deciding: TypeAlias = Callable[[str], AbstractAsyncContextManager[Connection]]


class Eraser:
    """A crash anywhere is repaired by the command's redelivery: the fence stands, and what is gone is gone."""

    def __init__(self, deciding: Deciding, policies: Choosing, clock: Callable[[], datetime]) -> None:
        self._deciding = deciding
        self._policies = policies
        self._clock = clock

    async def erase(self, command: Command) -> Outcome | None:
        """Erases the command's namespace, and records the command with the last page. None if it was carried out before."""
        async with self._deciding(command.namespace) as connection:
            if await Settlements(connection).of_command(command.namespace, command.command_id) is not None:
                return None
            await Purges(connection).fence(command.namespace, self._clock())
            shadows = await generations.shadows_of(connection, command.namespace)
        for shadow in shadows:  # before the pages: what was cut over from one meanwhile is on one of them
            async with self._deciding(shadow) as connection:
                await generations.drop_shadow(connection, shadow)
        outcome = None
        while outcome is None:
            async with self._deciding(command.namespace) as connection:
                if await Settlements(connection).of_command(command.namespace, command.command_id) is not None:
                    return None
                outcome = await self._page(connection, command)
        return outcome

    async def _page(self, connection: Connection, command: Command) -> Outcome | None:
        namespace, now, purges = command.namespace, self._clock(), Purges(connection)
        sequence = await changes.sequence(connection, namespace)
        await purges.fence(namespace, now)
        page = await purges.page(namespace)
        if page:
            gone = [
                replace(change.deleted(memory, now), version=memory.version + 1, sequence=sequence + number)
                for number, memory in enumerate(page, start=1)
            ]
            cause = Cause(actor=command.actor, command_id=command.command_id, reason=command.reason)
            await purges.erase(namespace, gone, cause, now)
            return None
        if not await purges.forget(namespace, self._policies.fed_by(namespace), now):
            return None
        outcome = Outcome(
            status="accepted", namespace=namespace, sequence=sequence, change="purged", digest=command.digest
        )
        await Settlements(connection).record_command(namespace, command.command_id, outcome, now)
        await put_records(connection, namespace, notices.of_command(command, outcome, now))
        return outcome
