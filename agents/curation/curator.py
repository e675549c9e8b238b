"""The deciding transaction: decides about candidates and commands, stores the decision once, then projects it to Qdrant and
Kafka.

Order of locks: the namespace (advisory, to the end of the transaction), then the row of the extraction. A transaction takes one
namespace and one extraction at most, so no two can wait for each other.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, Final

from msgspec.structs import replace

from agents.curation import notices
from agents.curation.compactor import Compactor
from agents.curation.editor import Editor
from agents.curation.eraser import Ends, Eraser
from agents.curation.expiry import Expiry
from agents.curation.imports import Importer, Vectors
from agents.curation.ledgers import LiveLimit, close_ledger, open_ledger, same_texts
from agents.curation.parts import fences_of, settle_candidates
from agents.curation.resolver import Resolver
from agents.curation.rules.apply_command import UndoneChange, apply_command, needs_completion, rejected
from agents.curation.rules.decision_inputs import (
    DecisionInputs,
    NeedsCompletion,
    NeedsImportances,
    NeedsVector,
    NeedsVerdicts,
)
from agents.curation.rules.incoming import command_memory_ids, erases
from agents.curation.rules.kinds import kinds_refused
from agents.curation.rules.lengths import fitted, too_long
from agents.curation.rules.limits import NeedsInput, NeedsPlan
from agents.curation.rules.outcome import Outcome
from agents.curation.rules.scrubbing import scrub_command, scrub_wishes
from agents.curation.wishes import BeginErasures, apply_wishes, hide_what_was_said, kept_wishes, texts_of
from agents.models.answers.summaries import estimated_tokens
from schemas.codec import convert
from schemas.erasure.erasures import ConversationFence
from schemas.errors import Retryable
from schemas.extraction.candidates import CandidateBatch
from schemas.memories.commands import Command
from schemas.memories.events import Cause
from schemas.policies.policies import Policy, PolicySelector
from sinks.embeddings.port import Embedder
from sinks.erasure.purges import Purges
from sinks.memories import writer
from sinks.memories.access_counts import Accesses
from sinks.memories.forgotten import ForgottenWishes
from sinks.memories.hidden_messages import HiddenMessages
from sinks.memories.kinds import Kinds
from sinks.memories.reader import Memories
from sinks.memories.resolutions import drop_verdicts
from sinks.memories.settlements import Part, Settlements
from sinks.outbox.projector import Projector, put_records
from sinks.postgres.connection import Connection, Pool, translated
from sinks.vectors.port import Vector, VectorIndex
from streams.windows.tokens.counting import TokenCount

MOST_BEGINNINGS: Final = 8  # of one decision: for a model, a plan, a text; and for changes by others meanwhile


class Curator:
    """Settles parts and commands; each once, whatever is redelivered. `concurrency` bounds the deciding transactions; `ends` says
    where the messages topic ends.

    Every method returns when the outcome is committed and projected, and raises Retryable when Postgres, Qdrant, Kafka
    or the embedder fails. It may then be committed already: repeating the call finds it and projects what is left.
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
        ends: Ends | None = None,
        erasures: BeginErasures | None = None,
        concurrency: int = 4,
        count_tokens: TokenCount = estimated_tokens,
    ) -> None:
        self._pool = pool
        self._vectors = vectors
        self._embedder = embedder
        self._projector = projector
        self._policies = policies
        self._clock = clock
        self._compactor = compactor
        self._editor = editor
        self._resolver = resolver
        self._erasures = erasures
        self._count_tokens = count_tokens
        self._deciders = asyncio.Semaphore(concurrency)
        self._eraser = Eraser(self._deciding_transaction, policies, clock, ends)
        self._expiry = Expiry(pool, self._deciding_transaction, clock, vectors.embedding_model)
        self._importer = Importer(pool, embedder, policies, clock, self._deciding_transaction, self.apply_command)

    async def curate(self, batch: CandidateBatch) -> Outcome:
        """Decides about a part: each candidate reinforces, merges, supersedes, creates or is dropped, in order; then what users
        ask to have forgotten goes."""
        part, policy = Part.of(batch), self._policies.by_name(batch.policy)
        batch = scrub_wishes(batch, policy.privacy)
        begun = await self._erasures.begin(batch, policy) if self._erasures and batch.wishes else {}
        cause = Cause(actor=batch.provider, request_id=batch.request_id)

        async def decide(prepared: DecisionInputs) -> Outcome:
            async with self._deciding_transaction(batch.namespace) as connection:
                if (known := await Settlements(connection).of_part(part)) is not None:
                    return as_repeated(known)
                now = self._clock()
                ledger, rulings = await settle_candidates(connection, self._vectors, batch, prepared, policy, now)
                granted = await apply_wishes(connection, self._vectors, batch, prepared, policy, ledger, now, begun)
                limit = LiveLimit(most=policy.max_memories, plan=prepared.plan)
                await close_ledger(connection, ledger, limit, cause, now, self._vectors.embedding_model)
                outcome = Outcome(
                    status="settled",
                    namespace=batch.namespace,
                    sequence=ledger.sequence,
                    rulings=rulings,
                    wishes=granted,
                )
                heeded = kept_wishes(batch, granted)
                await ForgottenWishes(connection).keep(batch.namespace, heeded, now)
                await hide_what_was_said(connection, batch, heeded, rulings)
                await put_records(connection, batch.namespace, notices.wish_records(batch, granted, policy, now))
                return await record_part(connection, part, outcome, now)

        texts = texts_of(batch)
        return await self._decide(decide, await self._embed(texts), batch.namespace, policy, batch=batch)

    async def fences_of(self, namespace: str, conversation_id: str) -> tuple[ConversationFence, ...]:
        """The erasure fences of a namespace that apply to a conversation."""
        with translated("asking for fences"):
            async with self._pool.acquire() as connection:
                return await fences_of(connection, namespace, conversation_id)

    async def drop_part(self, part: Part, reason: str) -> Outcome:
        """Marks a part as answered that cannot be curated (it is a dead letter), so that its request can complete."""
        async with self._deciding_transaction(part.namespace) as connection:
            if (known := await Settlements(connection).of_part(part)) is not None:
                return as_repeated(known)
            sequence = await writer.sequence(connection, part.namespace)
            outcome = Outcome(status="dropped", namespace=part.namespace, sequence=sequence, reason=reason)
            return await record_part(connection, part, outcome, self._clock())

    async def apply_imports(self, commands: Sequence[Command]) -> None:
        """Carries out imports of one namespace in their order, many in a transaction."""
        await self._importer.apply(commands)

    async def apply_command(self, command: Command, vectors: Vectors | None = None) -> Outcome:
        """Applies a command after removing secrets from it. An invalid command gives a `rejected` outcome, not an exception.
        `vectors` are of texts that are embedded already."""
        policy = self._policies.governing(command.namespace)
        command = fitted(scrub_command(command, policy.privacy), self._count_tokens)
        if erases(command) and (erased := await self._eraser.erase(command)) is not None:
            return erased

        async def decide(prepared: DecisionInputs) -> Outcome:
            async with self._deciding_transaction(command.namespace) as connection:
                known = await Settlements(connection).of_command(command.namespace, command.command_id)
                return (
                    as_repeated(known)
                    if known is not None
                    else await self._apply_command(connection, command, prepared, policy)
                )

        vectors = dict(vectors or {})
        if command.text and command.text not in vectors:
            vectors |= await self._embed([command.text])
        return await self._decide(decide, vectors, command.namespace, policy, command)

    async def _apply_command(
        self, connection: Connection, command: Command, prepared: DecisionInputs, policy: Policy
    ) -> Outcome:
        now, undone = self._clock(), await change_to_undo(connection, command)
        asked = prepared.completed or command
        text = undone.before.text if undone and undone.before else asked.text
        same = await same_texts(connection, command.namespace, [text] if text else [])
        ledger = await open_ledger(
            connection, command.namespace, same, command_memory_ids(asked, undone), policy.max_memories
        )
        fenced = (await Purges(connection).fences([command.namespace])).get(command.namespace)
        too_long_for_it = too_long(asked, self._count_tokens)
        may_be_completed = too_long_for_it is None and (fenced is None or command.at > fenced)
        if prepared.completed is None and may_be_completed and needs_completion(ledger, command):
            known = ledger.find_live(command.memory_id)
            raise NeedsCompletion(known.reinforcement_count if known else 0)
        if (refused := too_long_for_it or kinds_refused(asked, policy)) is not None:
            outcome = rejected(ledger, refused)
        else:
            outcome = apply_command(ledger, asked, prepared.vector(text) if text else None, now, undone, fenced)
        if outcome.status == "rejected" and await shows_again(connection, command):
            outcome = Outcome(status="accepted", namespace=command.namespace, sequence=ledger.sequence)
        most = policy.max_memories if outcome.change in ("created", "restored") else None
        cause = Cause(actor=command.actor, command_id=command.command_id)
        limit = LiveLimit(most=most, plan=prepared.plan, spared=outcome.memory_id)
        await close_ledger(connection, ledger, limit, cause, now, self._vectors.embedding_model)
        outcome = replace(outcome, sequence=ledger.sequence, digest=command.digest)
        if outcome.status == "accepted":
            await Kinds(connection).keep(command.namespace, command.new_kinds or (), command.actor, now)
        await Settlements(connection).record_command(command.namespace, command.command_id, outcome, now)
        await put_records(connection, command.namespace, notices.command_records(command, outcome, now))
        return outcome

    async def expire(self) -> int:
        """Ends memories whose time is over, some of them at a call; returns how many. Raises Retryable."""
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
        """Decides; begins anew with what was missing, for which models are asked with nothing locked."""
        prepared = DecisionInputs(vectors=vectors, verdicts={} if self._resolver is None else None)
        for _ in range(MOST_BEGINNINGS):
            try:
                return await decide(prepared)
            except NeedsPlan as crowded:
                plan = await self._compactor.plan(crowded.free, crowded.surplus, policy)
                prepared = replace(prepared, plan=plan)
            except NeedsImportances as unrated:
                importances = await self._editor.rate(unrated.candidates, namespace, policy)
                prepared = replace(prepared, importances=importances)
            except NeedsVerdicts as open_:
                assert batch is not None, "only candidates are compared"
                assert self._resolver is not None
                verdicts = await self._resolver.resolve(batch, open_.candidates, open_.memories, policy)
                prepared = replace(prepared, verdicts=verdicts)
            except NeedsCompletion as incomplete:
                assert command is not None, "only commands are completed"
                references = incomplete.repeated + await self._times_read(command.memory_id)
                completed = await self._editor.complete(command, policy, references)
                prepared = replace(prepared, completed=completed)
            except NeedsVector as unembedded:
                prepared = replace(prepared, vectors={**prepared.vectors, **await self._embed([unembedded.text])})
        raise Retryable(f"{namespace!r} changed {MOST_BEGINNINGS} times while one decision was made")

    async def _times_read(self, memory_id: str | None) -> int:
        if memory_id is None:
            return 0
        counted = await Accesses(self._pool).of([memory_id])
        return counted[memory_id].access_count if memory_id in counted else 0

    @asynccontextmanager
    async def _deciding_transaction(self, namespace: str) -> AsyncIterator[Connection]:
        """The transaction, and the projection behind it.

        What earlier decisions left pending is projected first, so that the index shows every memory of the namespace.
        """
        missing: NeedsInput | None = None
        with translated("curating"):
            async with self._deciders, self._pool.acquire() as connection, connection.transaction():
                await self._projector.project(connection, namespace)
                try:
                    async with connection.transaction():
                        yield connection
                except NeedsInput as exc:
                    missing = exc  # what was projected stays so: taken back with the decision, it would be told twice
        if missing is not None:
            raise missing
        await self._projector.project_now(namespace)

    async def _embed(self, texts: Sequence[str]) -> dict[str, Vector]:
        """Before the transaction: an embedding takes longer than everything a namespace is locked for."""
        return dict(zip(texts, await self._embedder.embed(texts), strict=True)) if texts else {}


async def change_to_undo(connection: Connection, command: Command) -> UndoneChange | None:
    """The change that an undo reverts, in the current state: without a version it is the latest one."""
    if command.kind != "undo" or command.memory_id is None:
        return None
    found = await Memories(connection).version(command.memory_id, command.version)
    if found is None or found.namespace != command.namespace:
        return None
    return UndoneChange(found.version, found.before)


async def shows_again(connection: Connection, command: Command) -> bool:
    """Whether it undoes a wish, by its id, that took no memory and hid what was said."""
    if command.kind != "undo" or command.memory_id is None:
        return False
    return await HiddenMessages(connection).show(command.namespace, command.memory_id)


async def record_part(connection: Connection, part: Part, outcome: Outcome, now: datetime) -> Outcome:
    """Stores the part as the last step, because it locks the extraction's row."""
    settlements = Settlements(connection)
    await drop_verdicts(connection, part)
    if not await settlements.record_part(part, outcome, now):
        return outcome
    results = await settlements.results(part.request_id)
    await put_records(connection, part.namespace, notices.completion_records(part, results, now))
    return replace(outcome, completed=True)


def as_repeated(known: Any) -> Outcome:
    return replace(convert(known, Outcome), repeated=True)
