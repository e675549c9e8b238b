"""Imports: many of a namespace in one decision, by the rules that hold for one command. While some are decided the next are
embedded."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from datetime import datetime
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from agents.curation import notices
from agents.curation.ledgers import LiveLimit, close_ledger, open_ledger, same_texts
from agents.curation.rules.apply_command import apply_command
from agents.curation.rules.incoming import command_memory_ids
from agents.curation.rules.ledger import Ledger
from agents.curation.rules.limits import NeedsPlan
from agents.curation.rules.outcome import Outcome
from agents.curation.rules.scrubbing import scrub_command
from agents.stage.prepared_ahead import prepared_ahead
from schemas.memories.commands import Command
from schemas.memories.events import Cause
from schemas.policies.policies import PolicySelector
from sinks.embeddings.port import Embedder
from sinks.embeddings.turns import embedded
from sinks.erasure.purges import Purges
from sinks.memories.reader import Memories
from sinks.memories.settlements import Settlements
from sinks.outbox.projector import put_records
from sinks.postgres.connection import Connection, Pool, translated
from sinks.vectors.port import Vector

AT_ONCE: Final = 128  # imports in one transaction: the namespace is locked for some 0.2 s
AHEAD: Final = 2  # parts: while one is embedded, what is to be embedded of the next is looked up

Vectors: TypeAlias = Mapping[str, Vector]
Deciding: TypeAlias = Callable[[str], AbstractAsyncContextManager[Connection]]
Alone: TypeAlias = Callable[[Command, Vectors], Awaitable[object]]


class Arrived(Struct, frozen=True):
    """Imports that are not carried out yet, and since when the namespace takes nothing older."""

    commands: tuple[Command, ...]
    fenced: datetime | None

    def applied(self, ledger: Ledger, vectors: Vectors, now: datetime) -> list[Outcome]:
        """Enters them in their order."""
        return [
            replace(
                apply_command(ledger, each, vectors.get(each.text or ""), now, fenced=self.fenced), digest=each.digest
            )
            for each in self.commands
        ]


class Importer:
    """Carries out imports of a namespace, in their order; each comes to what it would come to alone.

    `deciding` opens the transaction of a namespace. `alone` carries out one import: where a namespace is full, each decides
    anew what goes.
    """

    def __init__(
        self,
        pool: Pool,
        embedder: Embedder,
        policies: PolicySelector,
        clock: Callable[[], datetime],
        deciding: Deciding,
        alone: Alone,
    ) -> None:
        self._pool = pool
        self._embedder = embedder
        self._policies = policies
        self._clock = clock
        self._deciding = deciding
        self._alone = alone

    async def apply(self, commands: Sequence[Command]) -> None:
        """Raises what the curator raises; what was decided before stays, and is found when it is repeated."""
        privacy = self._policies.governing(commands[0].namespace).privacy
        clean = [scrub_command(each, privacy) for each in commands]
        parts = [clean[start : start + AT_ONCE] for start in range(0, len(clean), AT_ONCE)]
        async with aclosing(prepared_ahead(parts, self._vectors, ahead=AHEAD)) as prepared:
            async for part, vectors in prepared:
                await self._decided(part, vectors)

    async def _vectors(self, part: Sequence[Command]) -> Vectors:
        """Of the texts that would be stored, as things are now: of an import that is repeated none."""
        namespace = part[0].namespace
        with translated("looking at imports"):
            async with self._pool.acquire() as connection:
                arrived = await arrived_in(connection, namespace, part)
                same = await same_texts(connection, namespace, texts_of(arrived.commands))
                known = await Memories(connection).by_ids(ids_of(arrived.commands))
        outcomes = arrived.applied(Ledger(namespace, 0, [*same, *known.values()]), {}, self._clock())
        return await embedded(self._embedder, new_texts(arrived, outcomes))

    async def _decided(self, part: Sequence[Command], vectors: Vectors) -> None:
        """A text that was thought to be there, and is not any more, is embedded by whoever decides on it alone."""
        try:
            together = await self._decided_together(part, vectors)
        except NeedsPlan:
            together = False
        if not together:
            for command in part:
                await self._alone(command, vectors)

    async def _decided_together(self, part: Sequence[Command], vectors: Vectors) -> bool:
        """False, with nothing decided, where a vector is missing. Raises NeedsPlan."""
        namespace = part[0].namespace
        most = self._policies.governing(namespace).max_memories
        async with self._deciding(namespace) as connection:
            now, arrived = self._clock(), await arrived_in(connection, namespace, part)
            same = await same_texts(connection, namespace, texts_of(arrived.commands))
            ledger = await open_ledger(connection, namespace, same, ids_of(arrived.commands), most)
            outcomes = arrived.applied(ledger, vectors, now)
            if not vectors.keys() >= set(new_texts(arrived, outcomes)):
                return False
            cause = Cause(actor=part[0].actor)
            limit = LiveLimit(most=most, plan=None)
            await close_ledger(connection, ledger, limit, cause, now, self._embedder.model)
            decided = list(zip(arrived.commands, outcomes, strict=True))
            await Settlements(connection).record_commands(
                namespace, {command.command_id: outcome for command, outcome in decided}, now
            )
            told = [record for each, outcome in decided for record in notices.command_records(each, outcome, now)]
            await put_records(connection, namespace, told)
        return True


async def arrived_in(connection: Connection, namespace: str, part: Sequence[Command]) -> Arrived:
    """Those of the imports that are not carried out yet, each once."""
    by_id = {command.command_id: command for command in reversed(part)}
    settled = await Settlements(connection).of_commands(namespace, list(by_id))
    fences = await Purges(connection).fences([namespace])
    fresh = tuple(each for each in part if by_id[each.command_id] is each and each.command_id not in settled)
    return Arrived(fresh, fences.get(namespace))


def new_texts(arrived: Arrived, outcomes: Sequence[Outcome]) -> list[str]:
    """Those that become memories."""
    decided = zip(arrived.commands, outcomes, strict=True)
    return [command.text or "" for command, outcome in decided if outcome.change is not None]


def texts_of(commands: Sequence[Command]) -> list[str]:
    return [command.text for command in commands if command.text]


def ids_of(commands: Sequence[Command]) -> list[str]:
    return [memory_id for command in commands for memory_id in command_memory_ids(command, None)]
