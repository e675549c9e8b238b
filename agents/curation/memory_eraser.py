"""Erases a single memory: its row, versions, vector and copies of its words, with an event without content."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Final, TypeAlias

from msgspec.structs import replace

from agents.curation import outcome_records
from agents.curation.ledgers import DecidingTransaction, open_ledger
from agents.curation.rules.commands.apply_command import MEMORY_ERASED, apply_command
from agents.curation.rules.ledger import change
from agents.curation.rules.ledger.ledger import Ledger
from agents.curation.rules.ledger.links import relink, removed_memories
from agents.curation.rules.ledger.outcomes import ErasedMemory, Outcome, Ruling, as_repeated
from schemas.erasure.receipts import Remains
from schemas.extraction.candidates import CandidateBatch
from schemas.memories.commands import Command
from schemas.memories.events import Cause, MessageId
from schemas.memories.memories import Memory
from sinks.access.audit import Audit, Audited
from sinks.erasure.erased_memories import ErasedMemories, Messages
from sinks.erasure.purges import PurgeCounts, Purges
from sinks.memories import writer
from sinks.memories.reader import Memories
from sinks.memories.settlements import Settlements
from sinks.outbox.projector import put_records
from sinks.postgres.connection import Connection
from sinks.replay.shadows import shadows_of

MAX_PUBLISHED: Final = 1_000  # ids of messages in an event

# Lists the data of an erased memory that Kafka still holds. Raises Retryable.
ListRemains: TypeAlias = Callable[[datetime], Awaitable[Sequence[Remains]]]


class MemoryEraser:
    """Erases in one transaction of the namespace, then from its shadows, in one transaction each. A redelivered command
    repeats the latter, so a crash in between leaves nothing."""

    def __init__(
        self,
        deciding_transaction: DecidingTransaction,
        clock: Callable[[], datetime],
        embedding_model: str,
        remains: ListRemains | None = None,
    ) -> None:
        self._deciding_transaction = deciding_transaction
        self._clock = clock
        self._embedding_model = embedding_model
        self._remains = remains

    async def erase(self, command: Command) -> Outcome:
        """Erases the command's memory, and stores the outcome. Raises Retryable."""
        namespace, now = command.namespace, self._clock()
        remains = tuple(await self._remains(now)) if self._remains else ()
        async with self._deciding_transaction(namespace) as connection:
            known = await Settlements(connection).of_command(namespace, command.command_id)
            outcome = as_repeated(known) if known else await self._decide(connection, command, remains, now)
            said = await ErasedMemories(connection).messages_of(namespace, command.memory_id or "")
            shadows = await shadows_of(connection, namespace) if said else ()
        for shadow in shadows:
            async with self._deciding_transaction(shadow) as connection:
                await self._erase_replayed(connection, shadow, command, said, now)
        return outcome

    async def _decide(
        self, connection: Connection, command: Command, remains: tuple[Remains, ...], now: datetime
    ) -> Outcome:
        namespace, memory_id = command.namespace, command.memory_id or ""
        ledger = await open_ledger(connection, namespace, (), [memory_id], None)
        fenced = (await Purges(connection).fences([namespace])).get(namespace)
        outcome = apply_command(ledger, command, None, now, fenced=fenced)
        if outcome.change == "purged":
            await Audit(connection).record(audited(command, now))
            absorbed = await Memories(connection).absorbed_by(namespace, memory_id)
            erased = await self._erase(connection, ledger, absorbed, command, remains, now)
            outcome = replace(outcome, sequence=ledger.sequence, erased=erased)
        elif await Memories(connection).erased_from(memory_id) == namespace and not ledger.knows(memory_id):
            reason = f"memory {memory_id} was erased before"
            outcome = replace(outcome, status="accepted", memory_id=memory_id, reason=reason)
        outcome = replace(outcome, digest=command.digest)
        await Settlements(connection).record_command(namespace, command.command_id, outcome, now)
        await put_records(connection, namespace, outcome_records.command_records(command, outcome, now))
        return outcome

    async def _erase(
        self,
        connection: Connection,
        ledger: Ledger,
        absorbed: Sequence[Memory],
        command: Command,
        remains: tuple[Remains, ...],
        now: datetime,
    ) -> ErasedMemory:
        """Erases the memory that the ledger purged, and those that were merged into it."""
        purge(ledger, absorbed, command, now)
        erasing, gone = ErasedMemories(connection), [entry.after.memory_id for entry in ledger.entries]
        said = await erasing.record(ledger.namespace, gone, now)
        if not command.keep_messages:
            for memory_id in gone:
                await erasing.hide(memory_id)
        hidden = await erasing.count_hidden(said)  # a wish may have hidden the messages that the command keeps
        cause = replace(cause_of(command), messages=published(said), messages_kept=command.keep_messages and not hidden)
        counts = await self._write(connection, ledger, cause, said, now)
        return ErasedMemory(
            memories=counts.memories,
            versions=counts.versions,
            vectors=counts.vectors,
            messages=len(said),
            messages_hidden=hidden == len(said),
            remains=remains,
        )

    async def _erase_replayed(
        self, connection: Connection, shadow: str, command: Command, said: Messages, now: datetime
    ) -> None:
        """Erases what a replay made of the messages of the erased memory."""
        if not (replayed := await ErasedMemories(connection).replayed(shadow, said)):
            return
        ledger = await open_ledger(connection, shadow, replayed, (), None)
        purge(ledger, replayed, command, now)
        await self._write(connection, ledger, cause_of(command), said, now)

    async def _write(
        self, connection: Connection, ledger: Ledger, cause: Cause, said: Messages, now: datetime
    ) -> PurgeCounts:
        """Erases the purged memories of the ledger, which come from the messages `said`, and removes the links to them."""
        namespace, gone = ledger.namespace, [entry.after for entry in ledger.entries]
        relink(ledger, await Memories(connection).linking(namespace, removed_memories(ledger)), now)
        await ErasedMemories(connection).drop_copies(namespace, [each.memory_id for each in gone], said)
        counts = await Purges(connection).erase(namespace, gone, cause, now)
        await writer.record(connection, namespace, ledger.entries[len(gone) :], self._embedding_model)
        changes = [(entry.before, entry.after) for entry in ledger.entries]
        await put_records(
            connection, namespace, outcome_records.profile_records(namespace, ledger.sequence, changes, now)
        )
        return counts


async def drop_erased_proposals(connection: Connection, batch: CandidateBatch, rulings: Sequence[Ruling]) -> None:
    """Deletes the candidates that are dropped for an erased memory from the stored answer, too."""
    dropped = {ruling.candidate_id for ruling in rulings if ruling.reason == MEMORY_ERASED}
    sources = [source for each in batch.candidates if each.candidate_id in dropped for source in each.sources]
    erasing = ErasedMemories(connection)
    if erased := await erasing.among(batch.namespace, sources):
        await erasing.drop_proposals(erased, batch.request_id)


def purge(ledger: Ledger, memories: Sequence[Memory], command: Command, now: datetime) -> None:
    """Enters the removal of memories into the ledger."""
    for each in memories:
        ledger.enter("purged", change.deleted(each, now), cause_of(command), now)


def published(said: Messages) -> tuple[MessageId, ...]:
    return tuple(MessageId(conversation_id=each[0], message_id=each[1]) for each in sorted(said)[:MAX_PUBLISHED])


def cause_of(command: Command) -> Cause:
    return Cause(actor=command.actor, command_id=command.command_id, reason=command.reason)


def audited(command: Command, now: datetime) -> Audited:
    details = {"namespace": command.namespace, "command_id": command.command_id, "reason": command.reason}
    return Audited(
        at=now,
        actor=command.actor,
        action="memory.erase",
        subject=command.memory_id or "",
        details={name: value for name, value in details.items() if value is not None},
    )
