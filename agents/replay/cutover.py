"""Cutting over to a generation, and back: transactions that switch whole namespaces, told by the outbox like any change.

Order of locks: the generation's row, then the namespaces of one transaction in the order of their names. Nobody else holds more
than one namespace, or asks for a generation while holding one, so that nobody waits for one who waits.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final

from msgspec import Struct

from agents.curation.ledgers import LiveLimit, close_ledger, open_ledger
from agents.replay.namespace_comparison import differences
from agents.replay.switch import ACTOR, cut_over, outside_ids, take_back
from schemas.errors import Misconfigured
from schemas.memories.events import Cause
from schemas.replay.generations import Generation, GenerationStatus
from schemas.replay.shadows import shadow_of
from sinks.embeddings.port import Embedder
from sinks.memories.hidden_messages import HiddenMessages
from sinks.memories.reader import Memories
from sinks.outbox.projector import Projector
from sinks.postgres.connection import Connection, Pool, translated
from sinks.replay import generations
from sinks.replay.generations import Changed, Generations, Shadows, SwitchedNamespace
from sinks.vectors.port import Vector

AT_ONCE: Final = (
    500  # namespaces switched by one transaction: each lock is a place in a table that all of PostgreSQL shares
)


class CutoverResult(Struct, frozen=True, kw_only=True):
    """What came of a cutover, or of its undoing: namespaces, changes of memories, and what was left as it is since somebody
    changed it meanwhile."""

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
    """Every method raises Retryable, and may be called again then: what is switched stays so, and the rest follows.

    Up to `at_once` namespaces switch in one transaction, all or none; of more, each by itself is still of one side or the other.
    From the first transaction on the generation's status says which way it goes: of a cutover and an undoing side by side the one
    that began last goes through to the end, and the other one no further.
    """

    def __init__(
        self,
        pool: Pool,
        projector: Projector,
        embedder: Embedder,
        embedding_model: str,
        clock: Callable[[], datetime],
        *,
        at_once: int = AT_ONCE,
    ) -> None:
        self._pool = pool
        self._projector = projector
        self._embedder = embedder
        self._embedding_model = embedding_model
        self._clock = clock
        self._at_once = at_once

    async def cut_over(self, generation_id: str) -> CutoverResult:
        """What the generation remembers is what is remembered. Raises Misconfigured where it is not ready, or is taken back
        meanwhile."""
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
            statuses, beyond = ("cutover",), page[-1].namespace  # one that was taken back meanwhile stays so

    async def undo(self, generation_id: str) -> CutoverResult:
        """What the cutover changed, and nobody since, is as it was before. Raises Misconfigured where there is none, or is cut
        over again meanwhile."""
        done, beyond = CutoverResult(), ""
        statuses = await self._can_undo(generation_id)
        while True:
            vectors = await self._vectors_before(generation_id, beyond)
            async with self._switch(generation_id, statuses, beyond) as (connection, _, page):
                changes = await all_changed(Shadows(connection, generation_id), page)
                if not texts_before(changes) <= vectors.keys():
                    continue  # a cutover that was under way has ended since: once more, with all that it changed
                for switched, memories in changes:
                    done += await self._undo(connection, generation_id, switched, memories, vectors)
                await generations.set_status(connection, generation_id, "undone", self._clock())
            await self._project(page)
            if len(page) < self._at_once:
                return done
            statuses, beyond = ("undone",), page[-1].namespace  # one that is cut over to meanwhile stays so

    async def discard(self, generation_id: str) -> int:
        """Removes what the generation remembers, and that it was; returns the number of namespaces. What was cut over stays, and
        cannot be undone any more. Raises Misconfigured where there is none, while it is replayed, and where only a part of it is
        switched."""
        async with Generations(self._pool).held(generation_id):
            await self._give_up(generation_id)
            dropped, beyond = 0, ""
            while page := await Shadows(self._pool, generation_id).namespaces(beyond, self._at_once):
                for switched in page:
                    await self.forget(shadow_of(generation_id, switched.namespace))
                dropped, beyond = dropped + len(page), page[-1].namespace
            with translated("discarding a generation"):
                async with self._pool.acquire() as connection, connection.transaction():
                    await generations.drop(connection, generation_id)
        return dropped

    async def _give_up(self, generation_id: str) -> None:
        """Committed before the first shadow is emptied: an empty one says that all was lost, so nobody may switch to it any more,
        be it meanwhile or after a discard that did not come to its end."""
        with translated("discarding a generation"):
            async with self._pool.acquire() as connection, connection.transaction():
                if await generations.lock(connection, generation_id) is None:
                    raise unknown(generation_id)
                if await Shadows(connection, generation_id).switched_in_part():
                    raise Misconfigured(
                        f"generation {generation_id} is switched in part: bring that to its end first, "
                        f"by `memstream cutover {generation_id}` or with --undo"
                    )
                await generations.set_status(connection, generation_id, "discarding", self._clock())

    async def forget(self, shadow: str) -> None:
        """Removes all that is remembered in a shadow namespace."""
        with translated("discarding a generation"):
            async with self._pool.acquire() as connection, connection.transaction():
                await self._projector.project(connection, shadow)
                await generations.drop_shadow(connection, shadow)
        await self._projector.project_now(shadow)

    @asynccontextmanager
    async def _switch(
        self, generation_id: str, statuses: Sequence[GenerationStatus], beyond: str
    ) -> AsyncIterator[tuple[Connection, Generation, Sequence[SwitchedNamespace]]]:
        """A transaction that holds a page of the generation's namespaces, all that was pending in them told before."""
        with translated("cutting over"):
            async with self._pool.acquire() as connection, connection.transaction():
                generation = await generations.lock(connection, generation_id)
                require(generation, generation_id, statuses)
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
        ledger = await open_ledger(connection, namespace, (), [*known, *outside_ids(namespace, found).values()], most)
        first = ledger.sequence + 1
        again = [each.after.memory_id for each in found if each.after is not None]
        vectors = await Memories(connection).vectors(again, self._embedding_model)
        cut_over(ledger, found, vectors, cause, now)
        await close_ledger(connection, ledger, LiveLimit(most=most, plan=()), cause, now, self._embedding_model)
        shadow = shadow_of(generation.generation_id, namespace)
        await HiddenMessages(connection).adopt(shadow, namespace, generation.generation_id)
        switched = SwitchedNamespace(namespace=namespace, first_sequence=first, last_sequence=ledger.sequence)
        await generations.record_switch(connection, generation.generation_id, switched)
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
        mine = [each for each in changed if each[0] in known and known[each[0]].version == each[2]]
        take_back(ledger, {memory_id: before for memory_id, before, _ in mine}, vectors, cause, now)
        limit = LiveLimit(most=None, plan=None)
        await close_ledger(connection, ledger, limit, cause, now, self._embedding_model)
        await HiddenMessages(connection).show(namespace, generation_id)
        await generations.record_switch(connection, generation_id, SwitchedNamespace(namespace=namespace))
        return CutoverResult(namespaces=1, changes=len(ledger.entries), left=len(changed) - len(mine))

    async def _vectors_before(self, generation_id: str, beyond: str) -> dict[str, Vector]:
        """Of what is to be said again, by texts: embedded before anything is locked. Versions do not change."""
        shadows = Shadows(self._pool, generation_id)
        page = await shadows.namespaces(beyond, self._at_once)
        texts = sorted(texts_before(await all_changed(shadows, page)))
        return dict(zip(texts, await self._embedder.embed(texts), strict=True)) if texts else {}

    async def _can_undo(self, generation_id: str) -> Sequence[GenerationStatus]:
        """Also the rest of what was taken back in part, by somebody who did not come to the end."""
        rest = await Shadows(self._pool, generation_id).any_switched()
        return ("cutover", "undone") if rest else ("cutover",)


async def all_changed(
    shadows: Shadows, page: Sequence[SwitchedNamespace]
) -> list[tuple[SwitchedNamespace, Sequence[Changed]]]:
    """The namespaces of a page that are switched, each with what its cutover changed there."""
    return [(each, await shadows.changed(each)) for each in page if each.first_sequence is not None]


def texts_before(changes: Sequence[tuple[SwitchedNamespace, Sequence[Changed]]]) -> set[str]:
    """What memories said before their cutover."""
    befores = [before for _, memories in changes for _, before, _ in memories]
    return {before.text for before in befores if before is not None and before.text}


def require(generation: Generation | None, generation_id: str, statuses: Sequence[GenerationStatus]) -> None:
    """Raises Misconfigured unless it is there and of one of these statuses."""
    if generation is None:
        raise unknown(generation_id)
    if generation.status == "discarding":
        raise Misconfigured(
            f"generation {generation_id} is being discarded, and part of it may be gone: "
            f"`memstream generations discard {generation_id}` removes the rest"
        )
    if generation.status not in statuses:
        wanted = " or ".join(statuses)
        raise Misconfigured(f"generation {generation_id} is {generation.status}, and would have to be {wanted}")


def unknown(generation_id: str) -> Misconfigured:
    return Misconfigured(
        f"there is no generation {generation_id!r}: `memstream generations list` lists those that there are"
    )
