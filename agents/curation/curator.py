"""The deciding transaction: decides about candidates and commands, stores each decision once, then projects it to Qdrant and
Kafka.

Order of locks: the namespace (an advisory lock until the end of the transaction), the archive lock if the transaction erases,
then the row of the extraction. A transaction takes at most one of each, so deadlocks are impossible (sinks/README.md).
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial

from msgspec.structs import replace

from agents.curation import outcome_records
from agents.curation.commands import decide_command
from agents.curation.compactor import Compactor
from agents.curation.editor import Editor
from agents.curation.eraser import Ends, Eraser
from agents.curation.expiry import Expiry
from agents.curation.imports import Importer, Vectors
from agents.curation.input_fetcher import InputFetcher
from agents.curation.ledgers import LiveLimit, close_ledger
from agents.curation.memory_eraser import ListRemains, MemoryEraser, drop_erased_proposals
from agents.curation.part_inputs import fences_of
from agents.curation.parts import settle_candidates
from agents.curation.resolver import Resolver
from agents.curation.rules.commands.lengths import fitted
from agents.curation.rules.commands.limits import NeedsInput, NeedsPlan
from agents.curation.rules.commands.scrubbing import scrub_command, scrub_wishes
from agents.curation.rules.decisions.decision_inputs import DecisionInputs, NeedsCompletion, NeedsVerdicts
from agents.curation.rules.decisions.incoming import erases
from agents.curation.rules.ledger.outcomes import Outcome, as_repeated
from agents.curation.wishes import (
    BeginErasures,
    FindRepetitions,
    apply_wishes,
    hide_messages,
    texts_of,
    wishes_to_store,
)
from agents.models.answers.summaries import estimated_tokens
from agents.models.port import Verdict
from schemas.erasure.erasures import ConversationFence
from schemas.extraction.candidates import CandidateBatch
from schemas.memories.commands import Command
from schemas.memories.events import Cause
from schemas.policies.policies import Policy, PolicySelector
from sinks.classification.port import Comparer
from sinks.embeddings.port import Embedder
from sinks.memories import writer
from sinks.memories.access_counts import Accesses
from sinks.memories.forgotten import ForgottenWishes
from sinks.memories.resolutions import drop_verdicts
from sinks.memories.settlements import Part, Settlements
from sinks.outbox.projector import Projector, put_records
from sinks.postgres.connection import Connection, Pool, translated
from sinks.vectors.port import Vector, VectorIndex
from streams.windows.tokens.counting import TokenCount


class Curator:
    """Decides about parts and commands, each exactly once, also after redelivery.

    `concurrency` bounds the deciding transactions. `ends` returns the ends of the messages topic, for erasures, and `remains`
    what Kafka keeps of an erased memory. `said_again` finds other messages with the content of a forgotten memory. `comparer`
    finds memories that candidates end, beside the rules. Without a `resolver` no language model compares candidates with
    memories.

    Every method returns once the outcome is committed and projected. It raises Retryable if PostgreSQL, Qdrant, Kafka or the
    embedder fails, possibly after the commit: a repeated call then finds the outcome and completes the projection.
    """

    def __init__(
        self,
        pool: Pool,
        vectors: VectorIndex,
        embedder: Embedder,
        projector: Projector,
        policies: PolicySelector,
        clock: Callable[[], datetime],
        compactor: Compactor,
        editor: Editor,
        *,
        resolver: Resolver | None = None,
        comparer: Comparer | None = None,
        ends: Ends | None = None,
        remains: ListRemains | None = None,
        erasures: BeginErasures | None = None,
        said_again: FindRepetitions | None = None,
        concurrency: int = 4,
        count_tokens: TokenCount = estimated_tokens,
    ) -> None:
        self._pool = pool
        self._vectors = vectors
        self._projector = projector
        self._policies = policies
        self._clock = clock
        self._compactor = compactor
        self._editor = editor
        self._resolver = resolver
        self._inputs = InputFetcher(embedder, editor, comparer)
        self._erasures = erasures
        self._said_again = said_again
        self._count_tokens = count_tokens
        self._deciders = asyncio.Semaphore(concurrency)
        self._eraser = Eraser(self._deciding_transaction, policies, clock, ends)
        self._memory_eraser = MemoryEraser(self._deciding_transaction, clock, vectors.embedding_model, remains)
        self._expiry = Expiry(pool, self._deciding_transaction, clock, vectors.embedding_model)
        self._importer = Importer(pool, embedder, policies, clock, self._deciding_transaction, self.apply_command)

    async def curate(self, batch: CandidateBatch) -> Outcome:
        """Decides about the candidates of a part in order (create, reinforce, merge, supersede or drop), then applies users'
        wishes to forget."""
        part, policy = Part.of(batch), self._policies.by_name(batch.policy)
        batch = scrub_wishes(batch, policy.privacy)
        erasures = await self._erasures.begin(batch, policy) if self._erasures and batch.wishes else {}
        cause = Cause(actor=batch.provider, request_id=batch.request_id)

        async def decide(prepared: DecisionInputs) -> Outcome:
            async with self._deciding_transaction(batch.namespace) as connection:
                if (known := await Settlements(connection).of_part(part)) is not None:
                    return as_repeated(known)
                now = self._clock()
                ledger, rulings = await settle_candidates(connection, self._vectors, batch, prepared, policy, now)
                wishes = await apply_wishes(
                    connection, self._vectors, batch, prepared, policy, ledger, now, erasures, self._said_again
                )
                limit = LiveLimit(most=policy.max_memories, plan=prepared.plan)
                await close_ledger(connection, ledger, limit, cause, now, self._vectors.embedding_model)
                outcome = Outcome(
                    status="settled",
                    namespace=batch.namespace,
                    sequence=ledger.sequence,
                    rulings=rulings,
                    wishes=wishes,
                )
                stored = wishes_to_store(batch, wishes)
                await ForgottenWishes(connection).keep(batch.namespace, stored, now)
                await hide_messages(connection, batch, stored, rulings, wishes)
                await drop_erased_proposals(connection, batch, rulings)
                await put_records(connection, batch.namespace, outcome_records.wish_records(batch, wishes, policy, now))
                return await record_part(connection, part, outcome, now)

        vectors = await self._inputs.embed(texts_of(batch))  # slow, therefore before the transaction
        return await self._decide(decide, vectors, batch.namespace, policy, batch=batch)

    async def fences_of(self, namespace: str, conversation_id: str) -> tuple[ConversationFence, ...]:
        """The erasure fences of a namespace that apply to a conversation."""
        with translated("reading fences"):
            async with self._pool.acquire() as connection:
                return await fences_of(connection, namespace, conversation_id)

    async def drop_part(self, part: Part, reason: str) -> Outcome:
        """Marks a part that became a dead letter as settled, so that its request can complete."""
        async with self._deciding_transaction(part.namespace) as connection:
            if (known := await Settlements(connection).of_part(part)) is not None:
                return as_repeated(known)
            sequence = await writer.sequence(connection, part.namespace)
            outcome = Outcome(status="dropped", namespace=part.namespace, sequence=sequence, reason=reason)
            return await record_part(connection, part, outcome, self._clock())

    async def apply_imports(self, commands: Sequence[Command]) -> None:
        """Applies imports of one namespace in order, many per transaction."""
        await self._importer.apply(commands)

    async def apply_command(self, command: Command, vectors: Vectors | None = None) -> Outcome:
        """Applies a command after removing its secrets. An invalid command gets a `rejected` outcome, not an exception.

        `vectors` has the vectors of texts that are embedded already.
        """
        policy = self._policies.governing(command.namespace)
        command = fitted(scrub_command(command, policy.privacy), self._count_tokens)
        if command.kind == "erase":
            return await self._memory_eraser.erase(command)
        if erases(command) and (erased := await self._eraser.erase(command)) is not None:
            return erased

        async def decide(prepared: DecisionInputs) -> Outcome:
            async with self._deciding_transaction(command.namespace) as connection:
                known = await Settlements(connection).of_command(command.namespace, command.command_id)
                if known is not None:
                    return as_repeated(known)
                model, now = self._vectors.embedding_model, self._clock()
                return await decide_command(connection, command, prepared, policy, now, model, self._count_tokens)

        vectors = dict(vectors or {})
        if command.text and command.text not in vectors:
            vectors |= await self._inputs.embed([command.text])
        return await self._decide(decide, vectors, command.namespace, policy, command)

    async def expire(self) -> int:
        """Sets a bounded number of memories past their expiry to `expired`, and returns that number. Raises Retryable."""
        return await self._expiry.expire()

    async def _decide(
        self,
        decide: Callable[[DecisionInputs], Awaitable[Outcome]],
        vectors: dict[str, Vector],
        namespace: str,
        policy: Policy,
        command: Command | None = None,
        batch: CandidateBatch | None = None,
    ) -> Outcome:
        """Decides with the inputs that `decide` needs. Fetches them without holding a lock."""
        verdicts: dict[str, Verdict] | None = None if self._resolver else {}
        fetch_other = partial(self._fetch, policy=policy, command=command, batch=batch)
        return await self._inputs.decide_with_inputs(decide, vectors, verdicts, namespace, policy, fetch_other)

    async def _fetch(
        self,
        prepared: DecisionInputs,
        missing: NeedsInput,
        *,
        policy: Policy,
        command: Command | None,
        batch: CandidateBatch | None,
    ) -> DecisionInputs:
        """The inputs with a plan, with verdicts, or with the completed command."""
        match missing:
            case NeedsPlan():
                return replace(prepared, plan=await self._compactor.plan(missing.free, missing.surplus, policy))
            case NeedsVerdicts():
                assert batch is not None, "only candidates are compared"
                assert self._resolver is not None
                verdicts = await self._resolver.resolve(batch, missing.candidates, missing.memories, policy)
                combined = [each.text for each in verdicts.values() if each.text]
                vectors = {**prepared.vectors, **await self._inputs.embed(combined)}
                return replace(prepared, verdicts=verdicts, vectors=vectors)
            case NeedsCompletion():
                assert command is not None, "only commands are completed"
                references = missing.repeated + await self._times_read(command.memory_id)
                return replace(prepared, completed=await self._editor.complete(command, policy, references))
            case _:
                raise missing

    async def _times_read(self, memory_id: str | None) -> int:
        if memory_id is None:
            return 0
        counted = await Accesses(self._pool).of([memory_id])
        return counted[memory_id].access_count if memory_id in counted else 0

    @asynccontextmanager
    async def _deciding_transaction(self, namespace: str) -> AsyncIterator[Connection]:
        """Opens the deciding transaction of a namespace, and projects its changes after the commit.

        Projects pending rows of earlier decisions first, so that the vector index has every memory of the namespace.
        """
        missing: NeedsInput | None = None
        with translated("curating"):
            async with self._deciders, self._pool.acquire() as connection, connection.transaction():
                await self._projector.project(connection, namespace)
                try:
                    async with connection.transaction():
                        yield connection
                except NeedsInput as exc:
                    missing = exc  # roll back the decision only: a rolled-back projection would be published twice
        if missing is not None:
            raise missing
        await self._projector.project_now(namespace)


async def record_part(connection: Connection, part: Part, outcome: Outcome, now: datetime) -> Outcome:
    """Stores the part as the last step, because it locks the extraction's row."""
    settlements = Settlements(connection)
    await drop_verdicts(connection, part)
    if not await settlements.record_part(part, outcome, now):
        return outcome
    results = await settlements.results(part.request_id)
    await put_records(connection, part.namespace, outcome_records.completion_records(part, results, now))
    return replace(outcome, completed=True)
