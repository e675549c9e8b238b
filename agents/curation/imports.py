"""Applies imports of a namespace many per transaction, by the rules for single commands. Embeds the next ones meanwhile."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from agents.curation import outcome_records
from agents.curation.ledgers import DecidingTransaction, LiveLimit, close_ledger, open_ledger, same_texts
from agents.curation.rules.commands.apply_command import apply_command
from agents.curation.rules.commands.limits import NeedsPlan
from agents.curation.rules.commands.scrubbing import scrub_command
from agents.curation.rules.decisions.incoming import command_memory_ids
from agents.curation.rules.ledger.ledger import Ledger
from agents.curation.rules.ledger.outcomes import Outcome
from agents.stage.prefetch import prefetched
from schemas.memories.commands import Command
from schemas.memories.events import Cause
from schemas.policies.policies import PolicySelector
from sinks.embeddings.batching import embed_in_batches
from sinks.embeddings.port import Embedder
from sinks.erasure.purges import Purges
from sinks.memories.reader import Memories
from sinks.memories.settlements import Settlements
from sinks.outbox.projector import put_records
from sinks.postgres.connection import Connection, Pool, translated
from sinks.vectors.port import Vector

IMPORTS_PER_TRANSACTION: Final = 128  # the namespace is locked for some 0.2 s
PARTS_AHEAD: Final = 2  # parts prepared in advance: one is embedded while the texts of the next are looked up

Vectors: TypeAlias = Mapping[str, Vector]
ApplyOne: TypeAlias = Callable[[Command, Vectors], Awaitable[object]]


class NewImports(Struct, frozen=True):
    """Imports that were not applied before, and the time of the namespace's fence."""

    commands: tuple[Command, ...]
    fenced: datetime | None

    def applied(self, ledger: Ledger, vectors: Vectors, now: datetime) -> list[Outcome]:
        """Applies the imports to the ledger in order."""
        return [
            replace(
                apply_command(ledger, each, vectors.get(each.text or ""), now, fenced=self.fenced), digest=each.digest
            )
            for each in self.commands
        ]


class Importer:
    """Applies imports in order, with the same result as one by one.

    `deciding_transaction` opens the transaction of a namespace. `apply_one` applies a single import; it is used for a full
    namespace, where each import may remove another memory.
    """

    def __init__(
        self,
        pool: Pool,
        embedder: Embedder,
        policies: PolicySelector,
        clock: Callable[[], datetime],
        deciding_transaction: DecidingTransaction,
        apply_one: ApplyOne,
    ) -> None:
        self._pool = pool
        self._embedder = embedder
        self._policies = policies
        self._clock = clock
        self._deciding_transaction = deciding_transaction
        self._apply_one = apply_one

    async def apply(self, commands: Sequence[Command]) -> None:
        """Raises as the curator does. Applied imports stay applied, and a repeated call skips them."""
        privacy = self._policies.governing(commands[0].namespace).privacy
        clean = [scrub_command(each, privacy) for each in commands]
        parts = [
            clean[start : start + IMPORTS_PER_TRANSACTION] for start in range(0, len(clean), IMPORTS_PER_TRANSACTION)
        ]
        async with aclosing(prefetched(parts, self._vectors, ahead=PARTS_AHEAD)) as prepared:
            async for part, vectors in prepared:
                await self._apply_part(part, vectors)

    async def _vectors(self, part: Sequence[Command]) -> Vectors:
        """The vectors of the texts that the imports would store now; texts of repeated imports are left out."""
        namespace = part[0].namespace
        with translated("reading what imports need"):
            async with self._pool.acquire() as connection:
                new = await new_imports_in(connection, namespace, part)
                same = await same_texts(connection, namespace, texts_of(new.commands))
                known = await Memories(connection).by_ids(ids_of(new.commands))
        outcomes = new.applied(Ledger(namespace, 0, [*same, *known.values()]), {}, self._clock())
        return await embed_in_batches(self._embedder, new_texts(new, outcomes))

    async def _apply_part(self, part: Sequence[Command], vectors: Vectors) -> None:
        """Applies a part together, or one by one if that is impossible. `apply_one` embeds texts without a vector itself."""
        try:
            together = await self._apply_together(part, vectors)
        except NeedsPlan:
            together = False
        if not together:
            for command in part:
                await self._apply_one(command, vectors)

    async def _apply_together(self, part: Sequence[Command], vectors: Vectors) -> bool:
        """Returns False, without changes, if a vector is missing. Raises NeedsPlan."""
        namespace = part[0].namespace
        most = self._policies.governing(namespace).max_memories
        async with self._deciding_transaction(namespace) as connection:
            now, new = self._clock(), await new_imports_in(connection, namespace, part)
            same = await same_texts(connection, namespace, texts_of(new.commands))
            ledger = await open_ledger(connection, namespace, same, ids_of(new.commands), most)
            outcomes = new.applied(ledger, vectors, now)
            if not vectors.keys() >= set(new_texts(new, outcomes)):
                return False
            cause = Cause(actor=part[0].actor)
            limit = LiveLimit(most=most, plan=None)
            await close_ledger(connection, ledger, limit, cause, now, self._embedder.model)
            decided = list(zip(new.commands, outcomes, strict=True))
            await Settlements(connection).record_commands(
                namespace, {command.command_id: outcome for command, outcome in decided}, now
            )
            records = [
                record for each, outcome in decided for record in outcome_records.command_records(each, outcome, now)
            ]
            await put_records(connection, namespace, records)
        return True


async def new_imports_in(connection: Connection, namespace: str, part: Sequence[Command]) -> NewImports:
    """The imports of the part that were not applied before, without duplicates."""
    by_id = {command.command_id: command for command in reversed(part)}
    settled = await Settlements(connection).of_commands(namespace, list(by_id))
    fences = await Purges(connection).fences([namespace])
    fresh = tuple(each for each in part if by_id[each.command_id] is each and each.command_id not in settled)
    return NewImports(fresh, fences.get(namespace))


def new_texts(new: NewImports, outcomes: Sequence[Outcome]) -> list[str]:
    """The texts that become memories."""
    decided = zip(new.commands, outcomes, strict=True)
    return [command.text or "" for command, outcome in decided if outcome.change is not None]


def texts_of(commands: Sequence[Command]) -> list[str]:
    return [command.text for command in commands if command.text]


def ids_of(commands: Sequence[Command]) -> list[str]:
    return [memory_id for command in commands for memory_id in command_memory_ids(command, None)]
