"""The deciding transaction: what becomes of candidates and commands, recorded once, and then told to Qdrant and Kafka.

Order of locks: the namespace (advisory, to the end of the transaction), then the row of the extraction. A transaction
takes one namespace and one extraction at most, so no two can wait for each other.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, TypeAlias

from msgspec.structs import replace

from agents.compactor import Compactor
from agents.curation import change, notices
from agents.curation.arrivals import by_importance, erases, is_older, mentioned, named
from agents.curation.ledger import Ledger
from agents.curation.limits import Crowded, Planned, brought_within
from agents.curation.links import gone_from, relink
from agents.curation.normalise import normalise
from agents.curation.obey import ERASED, Undone, obey
from agents.curation.outcome import Outcome, Ruling
from agents.curation.scrubbing import scrubbed
from agents.curation.settle import settle
from agents.curation.thresholds import Thresholds, thresholds
from agents.eraser import Eraser
from schemas.codec import shaped
from schemas.errors import Retryable
from schemas.events import Cause
from schemas.memories import Memory
from schemas.policies import Choosing, Policy
from schemas.requests import CandidateBatch, Command
from sinks import changes
from sinks.embeddings.port import Embedder
from sinks.memories import Memories
from sinks.outbox import Projector, put_records
from sinks.postgres import Connection, Pool, translated
from sinks.purges import Purges
from sinks.settlements import Part, Settlements
from sinks.vectors import Neighbour, Vector, VectorIndex

MOST_READ = 20_000  # live memories of a namespace that is limited: twice the largest limit
EXPIRED_AT_ONCE = 500  # namespaces, and memories of each
NEIGHBOURS = 8  # looked at per candidate; what is not among the eight nearest is no duplicate worth finding


Plan: TypeAlias = Sequence[Planned] | None


class Curator:
    """Settles parts and commands; each once, whatever is redelivered. `concurrency` bounds the deciding transactions.

    Every method returns when the outcome is committed and projected, and raises Retryable when Postgres, Qdrant, Kafka
    or the embedder fails. It may then be committed already: repeating the call finds it and projects what is left.
    """

    def __init__(
        self,
        pool: Pool,
        vectors: VectorIndex,
        embedder: Embedder,
        projector: Projector,
        policies: Choosing,
        clock: Callable[[], datetime],
        compactor: Compactor,
        *,
        concurrency: int = 4,
    ) -> None:
        self._pool = pool
        self._vectors = vectors
        self._embedder = embedder
        self._projector = projector
        self._policies = policies
        self._clock = clock
        self._compactor = compactor
        self._deciders = asyncio.Semaphore(concurrency)
        self._eraser = Eraser(self._deciding, policies, clock)

    async def curate(self, batch: CandidateBatch) -> Outcome:
        """Settles a part: every candidate reinforces, supersedes, creates or is dropped, in their order."""
        part, vectors = Part.of(batch), await self._embed([candidate.text for candidate in batch.candidates])
        policy = self._policies.named(batch.policy)
        cause = Cause(actor=batch.provider, request_id=batch.request_id)

        async def decide(plan: Plan) -> Outcome:
            async with self._deciding(batch.namespace) as connection:
                if (known := await Settlements(connection).of_part(part)) is not None:
                    return repeated(known)
                now = self._clock()
                ledger, rulings = await self._settle(connection, batch, vectors, policy, now)
                brought_within(ledger, policy.max_memories, plan, cause, now)
                await relinked(connection, ledger, now)
                await self._record(connection, ledger, policy)
                outcome = Outcome(
                    status="settled", namespace=batch.namespace, sequence=ledger.sequence, rulings=rulings
                )
                return await record_part(connection, part, outcome, now)

        return await self._planned(decide, policy)

    async def drop_part(self, part: Part, reason: str) -> Outcome:
        """Counts a part as answered that cannot be curated (it went to the dead letters): its request must complete."""
        async with self._deciding(part.namespace) as connection:
            if (known := await Settlements(connection).of_part(part)) is not None:
                return repeated(known)
            sequence = await changes.sequence(connection, part.namespace)
            outcome = Outcome(status="dropped", namespace=part.namespace, sequence=sequence, reason=reason)
            return await record_part(connection, part, outcome, self._clock())

    async def carry_out(self, command: Command) -> Outcome:
        """Carries out a command, without what may not be stored; one that cannot be is `rejected`, which is no exception."""
        policy = self._policies.governing(command.namespace)
        command = scrubbed(command, policy.privacy)
        if erases(command) and (erased := await self._eraser.erase(command)) is not None:
            return erased
        undone = await self._undone(command)
        text = undone.before.text if undone and undone.before else command.text
        texts = [text] if text else []
        vectors = await self._embed(texts)

        async def decide(plan: Plan) -> Outcome:
            async with self._deciding(command.namespace) as connection:
                settlements, now = Settlements(connection), self._clock()
                if (known := await settlements.of_command(command.namespace, command.command_id)) is not None:
                    return repeated(known)
                memory_ids = named(command, undone)
                same = await same_texts(connection, command.namespace, texts)
                ledger = await open_ledger(connection, command.namespace, same, memory_ids, policy)
                fenced = (await Purges(connection).fences([command.namespace])).get(command.namespace)
                outcome = obey(ledger, command, vectors[0] if vectors else None, now, undone, fenced)
                if outcome.change in ("created", "restored"):
                    cause = Cause(actor=command.actor, command_id=command.command_id)
                    brought_within(ledger, policy.max_memories, plan, cause, now, outcome.memory_id)
                await relinked(connection, ledger, now)
                outcome = replace(outcome, sequence=ledger.sequence)
                await self._record(connection, ledger, policy)
                await settlements.record_command(command.namespace, command.command_id, outcome, now)
                await put_records(connection, command.namespace, notices.of_command(command, outcome, now))
                return outcome

        return await self._planned(decide, policy)

    async def expire(self) -> int:
        """Ends memories whose time is over, some of them at a call; returns how many. Another worker may do the same.

        Raises Retryable once every namespace had its turn.
        """
        now, count = self._clock(), 0
        failures: list[Retryable] = []
        for namespace in await Memories(self._pool).expiring(now, EXPIRED_AT_ONCE):
            try:
                count += await self._expire(namespace, now)
            except Retryable as exc:  # every namespace has its turn
                failures.append(exc)
        if failures:
            raise failures[0]
        return count

    async def _expire(self, namespace: str, now: datetime) -> int:
        async with self._deciding(namespace) as connection:
            over = await Memories(connection).expired(namespace, now, EXPIRED_AT_ONCE)
            ledger = Ledger(namespace, await changes.sequence(connection, namespace), over)
            for memory in over:
                cause = Cause(actor="memstream", reason="its time is over")
                ledger.enter("expired", change.expired(memory, now), cause, now)
            await changes.record(connection, namespace, ledger.entries, self._vectors.embedding_model)
            return len(over)

    async def _planned(self, decide: Callable[[Plan], Awaitable[Outcome]], policy: Policy) -> Outcome:
        """Decides; once more, with a plan, where there would be too many memories: a model is asked with nothing locked."""
        try:
            return await decide(None)
        except Crowded as crowded:
            return await decide(await self._compactor.plan(crowded.free, crowded.surplus, policy))

    async def _undone(self, command: Command) -> Undone | None:
        """What an undo takes back: versions never change, so they may be read before the transaction."""
        if command.kind != "undo" or command.memory_id is None:
            return None
        found = await Memories(self._pool).version(command.memory_id, command.version)
        if found is None or found.namespace != command.namespace:
            return None
        return Undone(found.version, found.before)

    async def _record(self, connection: Connection, ledger: Ledger, policy: Policy) -> None:
        """Writes what was decided. Raises RuntimeError when the namespace is not within its limit by then, though all of it was
        read."""
        await changes.record(connection, ledger.namespace, ledger.entries, self._vectors.embedding_model)
        most, live = policy.max_memories, ledger.all_live()
        if most is None or len(live) > most:  # more than that are there only if all of them are pinned
            return
        count = await Memories(connection).count_live(ledger.namespace)
        if count != len(live) and ledger.size < MOST_READ:  # of more than were read the next decision sees others
            raise RuntimeError(f"{ledger.namespace!r} has {count} live memories, decided were {len(live)}")

    @asynccontextmanager
    async def _deciding(self, namespace: str) -> AsyncIterator[Connection]:
        """The transaction, and the projection behind it.

        What earlier decisions left pending is projected first, so that the index shows every memory of the namespace.
        """
        with translated("curating"):
            async with self._deciders, self._pool.acquire() as connection, connection.transaction():
                await self._projector.project(connection, namespace)
                yield connection
        await self._projector.project_now(namespace)

    async def _embed(self, texts: Sequence[str]) -> list[Vector]:
        """Before the transaction: an embedding takes longer than everything a namespace is locked for."""
        return list(await self._embedder.embed(texts)) if texts else []

    async def _settle(
        self,
        connection: Connection,
        batch: CandidateBatch,
        vectors: Sequence[Vector],
        policy: Policy,
        now: datetime,
    ) -> tuple[Ledger, tuple[Ruling, ...]]:
        texts = [candidate.text for candidate in batch.candidates]
        same = await same_texts(connection, batch.namespace, texts)
        limits = thresholds(self._vectors.embedding_model, policy)
        found = await self._near(batch.namespace, texts, vectors, same, limits)
        ledger = await open_ledger(connection, batch.namespace, same, mentioned(batch.candidates, found), policy)
        fenced = (await Purges(connection).fences([batch.namespace])).get(batch.namespace)
        left = await self._allowance(connection, batch, policy)
        rulings: dict[int, Ruling] = {}
        for place in by_importance(batch.candidates) if left is not None else range(len(vectors)):
            candidate, vector, near = batch.candidates[place], vectors[place], found[place]
            if fenced is not None and is_older(candidate, batch, fenced):
                rulings[place] = Ruling(candidate_id=candidate.candidate_id, result="dropped", reason=ERASED)
                continue
            ruling = settle(ledger, batch, candidate, vector, near, policy, limits, now, left is None or left > 0)
            rulings[place] = ruling
            if left is not None and ruling.result == "created":
                left -= 1
        return ledger, tuple(rulings[place] for place in sorted(rulings))

    async def _allowance(self, connection: Connection, batch: CandidateBatch, policy: Policy) -> int | None:
        """How many memories the conversation may still make; None where that is not limited."""
        if policy.max_per_conversation is None:
            return None
        made = await Memories(connection).from_conversation(batch.namespace, batch.conversation_id)
        return policy.max_per_conversation - made

    async def _near(
        self,
        namespace: str,
        texts: Sequence[str],
        vectors: Sequence[Vector],
        same: Sequence[Memory],
        limits: Thresholds,
    ) -> list[list[Neighbour]]:
        """What the index has near each text; nothing near one that is known word for word, which is cheaper to see."""
        known = {normalise(memory.text) for memory in same}

        async def near(text: str, vector: Vector) -> list[Neighbour]:
            if normalise(text) in known:
                return []
            return await self._vectors.neighbours(namespace, vector, min_score=limits.related, limit=NEIGHBOURS)

        return list(await asyncio.gather(*map(near, texts, vectors)))


async def same_texts(connection: Connection, namespace: str, texts: Sequence[str]) -> tuple[Memory, ...]:
    """Live memories with one of the texts, up to spelling."""
    return await Memories(connection).live_by_text(namespace, list(map(normalise, texts)))


async def open_ledger(
    connection: Connection, namespace: str, same: Sequence[Memory], memory_ids: Sequence[str], policy: Policy
) -> Ledger:
    """With these memories and those that have one of the ids: all that the rules will ask for. Where their number is limited,
    with all live ones."""
    memories = Memories(connection)
    sequence = await changes.sequence(connection, namespace)
    named = await memories.by_ids(memory_ids)
    limited = await memories.live(namespace, MOST_READ) if policy.max_memories is not None else ()
    return Ledger(namespace, sequence, [*same, *named.values(), *limited])


async def relinked(connection: Connection, ledger: Ledger, now: datetime) -> None:
    """Of what the ledger's changes deleted no link is left."""
    if gone := gone_from(ledger):
        relink(ledger, await Memories(connection).linking(ledger.namespace, gone), now)


async def record_part(connection: Connection, part: Part, outcome: Outcome, now: datetime) -> Outcome:
    """Records the part last of all: from here on the extraction's row is locked."""
    if not await Settlements(connection).record_part(part, outcome, now):
        return outcome
    await put_records(connection, part.namespace, notices.of_completion(part, now))
    return replace(outcome, completed=True)


def repeated(known: Any) -> Outcome:
    return replace(shaped(known, Outcome), repeated=True)
