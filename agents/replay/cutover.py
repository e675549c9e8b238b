"""Cutover to a generation, and its undo: transactions that switch whole namespaces, published by the outbox like any change.

Order of locks: the generation's row, then the namespaces of a transaction by name. No other code holds more than one
namespace, or locks a generation while holding one, so there is no deadlock.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final

from msgspec import Struct

from agents.curation.ledgers import LiveLimit, close_ledger, open_ledger
from agents.replay.namespace_comparison import differences
from agents.replay.switch import ACTOR, cut_over, live_ids, revert
from schemas.errors import Misconfigured
from schemas.memories.events import Cause
from schemas.memories.memories import Memory
from schemas.policies.shadows import shadow_of
from schemas.replay.generations import Generation, GenerationStatus
from sinks.embeddings.port import Embedder
from sinks.erasure.erased_memories import ErasedMemories, Messages, is_among
from sinks.memories.hidden_messages import HiddenMessages
from sinks.memories.reader import Memories
from sinks.outbox.projector import Projector
from sinks.postgres.connection import Connection, Pool, translated
from sinks.replay import generations
from sinks.replay.generations import Generations
from sinks.replay.shadows import Changed, Shadows, SwitchedNamespace, drop_shadow, record_switch
from sinks.vectors.port import Vector

MAX_NAMESPACES: Final = 500  # namespaces per transaction: each lock takes a slot of PostgreSQL's shared lock table


class CutoverResult(Struct, frozen=True, kw_only=True):
    """The result of a cutover or undo: numbers of namespaces and changes, and of memories left alone because they changed
    meanwhile."""

    namespaces: int = 0
    changes: int = 0
    left: int = 0

    def __add__(self, other: "CutoverResult") -> "CutoverResult":
        return CutoverResult(
            namespaces=self.namespaces + other.namespaces,
            changes=self.changes + other.changes,
            left=self.left + other.left,
        )


class Cutover:
    """Every method raises Retryable and can be repeated: switched namespaces stay switched, and the rest follows.

    Up to `at_once` namespaces switch in one transaction; with more, each namespace is still entirely on one side. The first
    transaction sets the generation's status: of a concurrent cutover and undo, the later one completes and the other stops.
    """

    def __init__(
        self,
        pool: Pool,
        projector: Projector,
        embedder: Embedder,
        embedding_model: str,
        clock: Callable[[], datetime],
        *,
        at_once: int = MAX_NAMESPACES,
    ) -> None:
        self._pool = pool
        self._projector = projector
        self._embedder = embedder
        self._embedding_model = embedding_model
        self._clock = clock
        self._at_once = at_once

    async def cut_over(self, generation_id: str) -> CutoverResult:
        """Makes the generation's memories live. Raises Misconfigured if it is not ready, or is undone meanwhile."""
        done, beyond = CutoverResult(), ""
        statuses: Sequence[GenerationStatus] = ("ready", "undone", "cutover")
        while True:
            async with self._switch(generation_id, statuses, beyond) as (connection, generation, page):
                for switched in page:
                    if switched.first_sequence is None:
                        done += await self._namespace(connection, generation, switched.namespace)
                await generations.set_status(connection, generation_id, "cutover", self._clock())
            await self._project(page)
            if len(page) < self._at_once:
                return done
            statuses, beyond = ("cutover",), page[-1].namespace  # do not overwrite the status of a concurrent undo

    async def undo(self, generation_id: str) -> CutoverResult:
        """Restores the memories that the cutover changed, unless they changed since. Raises Misconfigured if there is no
        cutover, or it is repeated meanwhile."""
        done, beyond = CutoverResult(), ""
        statuses = await self._can_undo(generation_id)
        while True:
            vectors = await self._vectors_before(generation_id, beyond)
            async with self._switch(generation_id, statuses, beyond) as (connection, _, page):
                changes = await all_changed(Shadows(connection, generation_id), page)
                if not texts_before(changes) <= vectors.keys():
                    continue  # a concurrent cutover has ended meanwhile: undo again, with all its changes
                for switched, memories in changes:
                    done += await self._undo(connection, generation_id, switched, memories, vectors)
                await generations.set_status(connection, generation_id, "undone", self._clock())
            await self._project(page)
            if len(page) < self._at_once:
                return done
            statuses, beyond = ("undone",), page[-1].namespace  # do not overwrite the status of a concurrent cutover

    async def discard(self, generation_id: str) -> int:
        """Deletes the generation with its shadows; returns the number of namespaces. A cutover stays, and cannot be undone
        any more. Raises Misconfigured for an unknown generation, one being replayed, and one that is partly switched."""
        async with Generations(self._pool).held(generation_id):
            await self._mark_discarding(generation_id)
            dropped, beyond = 0, ""
            while page := await Shadows(self._pool, generation_id).namespaces(beyond, self._at_once):
                for switched in page:
                    await self.forget(shadow_of(generation_id, switched.namespace))
                dropped, beyond = dropped + len(page), page[-1].namespace
            with translated("discarding a generation"):
                async with self._pool.acquire() as connection, connection.transaction():
                    await generations.drop(connection, generation_id)
        return dropped

    async def _mark_discarding(self, generation_id: str) -> None:
        """Commits the new status before the first shadow is emptied: a cutover to an empty shadow would lose all memories,
        also after an interrupted discard."""
        with translated("discarding a generation"):
            async with self._pool.acquire() as connection, connection.transaction():
                if await generations.lock(connection, generation_id) is None:
                    raise unknown_generation(generation_id)
                if await Shadows(connection, generation_id).switched_in_part():
                    raise Misconfigured(
                        f"generation {generation_id} is switched in part: finish that first with "
                        f"`memstream cutover {generation_id}`, or revert it with --undo"
                    )
                await generations.set_status(connection, generation_id, "discarding", self._clock())

    async def forget(self, shadow: str) -> None:
        """Deletes a shadow namespace."""
        with translated("discarding a generation"):
            async with self._pool.acquire() as connection, connection.transaction():
                await self._projector.project(connection, shadow)
                await drop_shadow(connection, shadow)
        await self._projector.project_now(shadow)

    @asynccontextmanager
    async def _switch(
        self, generation_id: str, statuses: Sequence[GenerationStatus], beyond: str
    ) -> AsyncIterator[tuple[Connection, Generation, Sequence[SwitchedNamespace]]]:
        """A transaction with locks on a page of the generation's namespaces, after their pending rows are projected."""
        with translated("cutting over"):
            async with self._pool.acquire() as connection, connection.transaction():
                generation = await generations.lock(connection, generation_id)
                require_status(generation, generation_id, statuses)
                assert generation is not None
                page = await Shadows(connection, generation_id).namespaces(beyond, self._at_once)
                for switched in page:
                    await self._projector.project(connection, switched.namespace)
                yield connection, generation, page

    async def _project(self, page: Sequence[SwitchedNamespace]) -> None:
        for switched in page:
            await self._projector.project_now(switched.namespace)

    async def _namespace(self, connection: Connection, generation: Generation, namespace: str) -> CutoverResult:
        now = self._clock()
        found = await differences(connection, generation, namespace, self._embedding_model)
        cause = Cause(actor=ACTOR, reason=f"cutover to generation {generation.generation_id}")
        known = [each.before.memory_id for each in found if each.before is not None]
        most = generation.plan.policies.governing(namespace).max_memories
        ledger = await open_ledger(connection, namespace, (), [*known, *live_ids(namespace, found).values()], most)
        first = ledger.sequence + 1
        again = [each.after.memory_id for each in found if each.after is not None]
        vectors = await Memories(connection).vectors(again, self._embedding_model)
        cut_over(ledger, found, vectors, cause, now)
        await close_ledger(connection, ledger, LiveLimit(most=most, plan=()), cause, now, self._embedding_model)
        shadow = shadow_of(generation.generation_id, namespace)
        await HiddenMessages(connection).adopt(shadow, namespace, generation.generation_id)
        switched = SwitchedNamespace(namespace=namespace, first_sequence=first, last_sequence=ledger.sequence)
        await record_switch(connection, generation.generation_id, switched)
        return CutoverResult(namespaces=1, changes=len(ledger.entries))

    async def _undo(
        self,
        connection: Connection,
        generation_id: str,
        switched: SwitchedNamespace,
        changed: Sequence[Changed],
        vectors: Mapping[str, Vector],
    ) -> CutoverResult:
        now, namespace = self._clock(), switched.namespace
        known = await Memories(connection).by_ids([memory_id for memory_id, *_ in changed])
        cause = Cause(actor=ACTOR, reason=f"undo of the cutover to generation {generation_id}")
        linked = {link.memory_id for _, before, _ in changed if before is not None for link in before.links}
        ledger = await open_ledger(connection, namespace, tuple(known.values()), [*linked], None)
        erased = await ErasedMemories(connection).messages(namespace)
        mine = [
            (memory_id, before, version)
            for memory_id, before, version in changed
            if (memory := known.get(memory_id)) is not None and memory.version == version
            if not would_return(memory, before, erased)
        ]
        revert(ledger, {memory_id: before for memory_id, before, _ in mine}, vectors, cause, now)
        limit = LiveLimit(most=None, plan=None)
        await close_ledger(connection, ledger, limit, cause, now, self._embedding_model)
        await HiddenMessages(connection).show(namespace, generation_id)
        await record_switch(connection, generation_id, SwitchedNamespace(namespace=namespace))
        return CutoverResult(namespaces=1, changes=len(ledger.entries), left=len(changed) - len(mine))

    async def _vectors_before(self, generation_id: str, beyond: str) -> dict[str, Vector]:
        """Vectors of the texts to restore, embedded before anything is locked; versions do not change."""
        shadows = Shadows(self._pool, generation_id)
        page = await shadows.namespaces(beyond, self._at_once)
        texts = sorted(texts_before(await all_changed(shadows, page)))
        return dict(zip(texts, await self._embedder.embed(texts), strict=True)) if texts else {}

    async def _can_undo(self, generation_id: str) -> Sequence[GenerationStatus]:
        """Whether a cutover, or the rest of an interrupted undo, can be undone."""
        rest = await Shadows(self._pool, generation_id).any_switched()
        return ("cutover", "undone") if rest else ("cutover",)


def would_return(memory: Memory, before: Memory | None, erased: Messages) -> bool:
    """Whether an undo would bring back a memory from a message of which a memory was erased meanwhile."""
    return memory.status == "deleted" and before is not None and is_among(before.sources, erased)


async def all_changed(
    shadows: Shadows, page: Sequence[SwitchedNamespace]
) -> list[tuple[SwitchedNamespace, Sequence[Changed]]]:
    """The switched namespaces of a page, each with the changes of its cutover."""
    return [(each, await shadows.changed(each)) for each in page if each.first_sequence is not None]


def texts_before(changes: Sequence[tuple[SwitchedNamespace, Sequence[Changed]]]) -> set[str]:
    """The texts of memories before their cutover."""
    befores = [before for _, memories in changes for _, before, _ in memories]
    return {before.text for before in befores if before is not None and before.text}


def require_status(generation: Generation | None, generation_id: str, statuses: Sequence[GenerationStatus]) -> None:
    """Raises Misconfigured unless the generation exists in one of these statuses."""
    if generation is None:
        raise unknown_generation(generation_id)
    if generation.status == "discarding":
        raise Misconfigured(
            f"generation {generation_id} is being discarded, and part of it may be gone: "
            f"`memstream generations discard {generation_id}` removes the rest"
        )
    if generation.status not in statuses:
        expected = " or ".join(statuses)
        raise Misconfigured(f"generation {generation_id} is {generation.status}, and must be {expected}")


def unknown_generation(generation_id: str) -> Misconfigured:
    return Misconfigured(
        f"there is no generation {generation_id!r}: `memstream generations list` lists those that there are"
    )
