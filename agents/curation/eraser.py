"""Erases the memories of a namespace, or those of erased conversations, page by page, with events without content."""

from collections.abc import Awaitable, Callable, Collection
from datetime import datetime
from typing import TypeAlias

from msgspec.structs import replace

from agents.curation import outcome_records
from agents.curation.ledgers import DecidingTransaction
from agents.curation.rules.ledger import change
from agents.curation.rules.ledger.outcomes import Outcome
from agents.profile.changes import of_gone
from schemas import ids
from schemas.erasure.erasures import Erasure, Fence
from schemas.memories.commands import Command
from schemas.memories.events import Cause
from schemas.memories.memories import Memory
from schemas.policies.policies import PolicySelector
from sinks.erasure.progress import ErasureProgress
from sinks.erasure.purges import PurgeCounts, Purges
from sinks.memories import writer
from sinks.memories.settlements import Settlements
from sinks.outbox.projector import put_records
from sinks.postgres.connection import Connection
from sinks.replay.shadows import drop_shadow, shadows_of

# The end offsets of the messages topic by partition. Raises Retryable.
Ends: TypeAlias = Callable[[], Awaitable[dict[int, int]]]


class Eraser:
    """Erases in several transactions. After a crash the redelivered command continues: the fence is stored first.

    The fence refuses messages older than the erasure. A purge of a namespace deletes all of its memories, also those created
    after the erasure began.

    `ends` returns the ends of the messages topic. Without it, a message with a timestamp in the future can pass the fence.
    """

    def __init__(
        self,
        deciding_transaction: DecidingTransaction,
        policies: PolicySelector,
        clock: Callable[[], datetime],
        ends: Ends | None = None,
    ) -> None:
        self._deciding_transaction = deciding_transaction
        self._policies = policies
        self._clock = clock
        self._ends = ends

    async def erase(self, command: Command) -> Outcome | None:
        """Erases the command's memories, and stores its outcome with the last page. None if it was applied before."""
        # Read before the fence's time is taken: every later message has a higher offset.
        ends = await self._ends() if self._ends and command.erasure_id is None else {}
        async with self._deciding_transaction(command.namespace) as connection:
            if await Settlements(connection).of_command(command.namespace, command.command_id) is not None:
                return None
            erasure = await self._erasure(connection, command, ends)
            if erasure is None:
                return await self._record_outcome(connection, command, f"no erasure {command.erasure_id}")
            shadows: Collection[str] = ()
            if command.kind != "forget":
                await Purges(connection).fence(command.namespace, erasure.fence)
                shadows = await shadows_of(connection, command.namespace)
        for shadow in shadows:  # before the pages, which include memories that were cut over from a shadow meanwhile
            async with self._deciding_transaction(shadow) as connection:
                await drop_shadow(connection, shadow)
        outcome = None
        while outcome is None:
            async with self._deciding_transaction(command.namespace) as connection:
                if await Settlements(connection).of_command(command.namespace, command.command_id) is not None:
                    return None
                outcome = await self._page(connection, command, erasure)
        return outcome

    async def _erasure(self, connection: Connection, command: Command, ends: dict[int, int]) -> Erasure | None:
        """The erasure of the command, whose time applies to all pages; None if a `forget` names an unknown one. A purge
        without a stored erasure begins one."""
        erasing = ErasureProgress(connection)
        stored = await erasing.get(erasure_id_of(command))
        if stored is not None or command.kind == "forget":
            return stored
        erasure = of_namespace(command, Fence(command.at if command.erasure_id else self._clock(), ends))
        await erasing.begin(erasure)
        await erasing.count(erasure.erasure_id, command, PurgeCounts(0, 0, 0))
        return erasure

    async def _page(self, connection: Connection, command: Command, erasure: Erasure) -> Outcome | None:
        namespace, purges, forgets = command.namespace, Purges(connection), command.kind == "forget"
        page = await (purges.page_of(namespace, erasure) if forgets else purges.page(namespace))
        if page:
            await self._erase(connection, command, page)
            return None
        progress, erasure_id, now = ErasureProgress(connection), erasure_id_of(command), self._clock()
        if not forgets:
            over = await purges.forget(namespace, self._policies.scopes_feeding(namespace), erasure.fence)
            await progress.count_passages(erasure_id, purges.passages, now)
            if not over:
                return None
        await progress.done(erasure_id, command, now)
        return await self._record_outcome(connection, command)

    async def _erase(self, connection: Connection, command: Command, page: tuple[Memory, ...]) -> None:
        now, sequence = self._clock(), await writer.sequence(connection, command.namespace)
        deleted = [
            replace(change.deleted(memory, now), version=memory.version + 1, sequence=sequence + number)
            for number, memory in enumerate(page, start=1)
        ]
        cause = Cause(
            actor=command.actor,
            command_id=command.command_id,
            reason=command.reason,
            erased="conversations" if command.kind == "forget" else "namespace",
        )
        counts = await Purges(connection).erase(command.namespace, deleted, cause, now)
        records = outcome_records.profile_records(command.namespace, deleted[-1].sequence, of_gone(page), now)
        await put_records(connection, command.namespace, records)
        await ErasureProgress(connection).count(erasure_id_of(command), command, counts)

    async def _record_outcome(self, connection: Connection, command: Command, refused: str | None = None) -> Outcome:
        namespace, now = command.namespace, self._clock()
        outcome = Outcome(
            status="accepted" if refused is None else "rejected",
            namespace=namespace,
            sequence=await writer.sequence(connection, namespace),
            change="purged" if refused is None else None,
            reason=refused,
            digest=command.digest,
        )
        await Settlements(connection).record_command(namespace, command.command_id, outcome, now)
        await put_records(connection, namespace, outcome_records.command_records(command, outcome, now))
        return outcome


def erasure_id_of(command: Command) -> str:
    """The erasure id of a command; a command that names none has its own."""
    return command.erasure_id or erasure_id(command.namespace, command.command_id)


def erasure_id(namespace: str, command_id: str) -> str:
    """The id of the erasure that a command begins for a namespace."""
    return ids.derive("erasure", namespace, command_id)


def of_namespace(command: Command, fence: Fence) -> Erasure:
    return Erasure(
        erasure_id=erasure_id_of(command),
        kind="namespace",
        at=fence.at,
        positions=fence.positions,
        actor=command.actor,
        reason=command.reason,
        namespace=command.namespace,
    )
