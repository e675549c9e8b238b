"""Replays conversations into a generation: the same slices, questions and decisions as live ones, in shadow namespaces.

Ids are derived from generation and slice, so a restarted replay asks no model again and stores nothing twice.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import AsyncExitStack
from datetime import datetime
from functools import partial, reduce
from typing import Any, Final, Protocol, TypeVar

from msgspec.structs import replace

from agents.extraction.records import candidate_batches
from agents.models.port import Answer
from agents.replay.slices import slices
from agents.stage.key_queues import KeyQueues, QueuePlace
from agents.windows.terms import WindowTerms
from schemas import codec, ids
from schemas.access.keys import covers
from schemas.conversations.messages import Scope
from schemas.errors import Deferred, Rejected, Retryable
from schemas.extraction.candidates import CandidateBatch
from schemas.extraction.requests import ExtractionRequest
from schemas.policies.policies import PolicySelector
from schemas.policies.shadows import live_namespace_of, shadow_of
from schemas.replay.generations import Generation
from sinks.archive.messages import ArchivedMessage
from sinks.replay.generations import PlannedConversation, ReplayedConversation
from streams.windows.arrival import merged
from streams.windows.tokens.counting import TokenCount

log = logging.getLogger(__name__)

NO_PARTITION: Final = -1  # no window waits for a replayed request, and it marks no message as extracted
RETRY_FOR_S: Final = 600.0  # temporary failures of one slice are retried for this time; then an operator must resume
LONGEST_PAUSE_S: Final = 30.0

T = TypeVar("T")


class ReplayStore(Protocol):
    """The progress of a generation; sinks.replay.generations.Generations."""

    async def unerased(self, messages: Sequence[ArchivedMessage]) -> Sequence[ArchivedMessage]: ...

    async def feeds(self, generation_id: str, namespaces: Collection[str]) -> None: ...

    async def done(self, generation_id: str, replayed: ReplayedConversation, at: datetime) -> None: ...


class AnswerSource(Protocol):
    """agents.extraction.extractor.Extractor."""

    async def stored_answer(
        self, request: ExtractionRequest, owner: str, still_held: Callable[[], bool]
    ) -> bytes | None: ...


class CandidateCurator(Protocol):
    """agents.curation.curator.Curator."""

    async def curate(self, batch: CandidateBatch) -> Any: ...


class Replayer:
    """`before` are the policies of live messages: the namespaces that they feed are compared too if the replay's policies
    feed others. `concurrency` conversations run at a time; those that share a namespace run in the order in which they
    were added."""

    def __init__(
        self,
        generation: Generation,
        records: ReplayStore,
        extractor: AnswerSource,
        curator: CandidateCurator,
        terms: WindowTerms,
        before: PolicySelector,
        count_tokens: TokenCount,
        clock: Callable[[], datetime],
        owner: str,
        *,
        concurrency: int = 4,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._generation = generation
        self._records = records
        self._extractor = extractor
        self._curator = curator
        self._terms = terms
        self._before = before
        self._count_tokens = count_tokens
        self._clock = clock
        self._owner = owner
        self._sleep = sleep
        self._room = asyncio.Semaphore(concurrency)
        self._turns = KeyQueues()
        self._running: set[asyncio.Task[None]] = set()

    def concerns(self, scopes: Iterable[Scope]) -> bool:
        """Whether a conversation feeds a namespace of the plan, under the replay's policies or those before. `scopes` has
        one per speaker."""
        return any(
            self._policies_feeding(self._generation.plan.policies, each) or self._policies_feeding(self._before, each)
            for each in scopes
        )

    def feeds(self, messages: Sequence[ArchivedMessage]) -> bool:
        """The same for a conversation given by its messages."""
        return self.concerns(scopes_of(messages))

    async def add(self, planned: PlannedConversation, messages: Sequence[ArchivedMessage]) -> None:
        """Starts a conversation once there is room. Raises the error of a failed earlier one."""
        await self._room.acquire()
        self._raise_failed()
        messages = await self._records.unerased(self._policies(messages))
        requests = [shadow for each in self._sliced(messages) if (shadow := self._shadowed(each)) is not None]
        feeds = sorted({namespace for request in requests for namespace in request.namespaces})
        turns = [self._turns.next(namespace.encode()) for namespace in feeds]  # before the first await
        task = asyncio.create_task(self._replay(planned, messages, requests, turns))
        self._running.add(task)
        task.add_done_callback(lambda _: self._room.release())

    async def finish(self) -> None:
        """Waits for all conversations. Raises the error of a failed one."""
        await asyncio.gather(*self._running, return_exceptions=True)
        self._raise_failed()

    async def close(self) -> None:
        """Cancels running conversations; a later replay repeats them."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def _raise_failed(self) -> None:
        ended = {task for task in self._running if task.done()}
        self._running -= ended
        for task in ended:
            task.result()

    def _policies(self, messages: Sequence[ArchivedMessage]) -> list[ArchivedMessage]:
        """The messages with all namespaces that their words may go to."""
        if not messages:  # erased after planning
            return []
        scope = scope_of(messages)
        policy = self._generation.plan.policies.match(scope)
        return [replace(each, feeds=policy.namespaces_of(said_in(scope, each))) for each in messages]

    def _sliced(self, messages: Sequence[ArchivedMessage]) -> list[ExtractionRequest]:
        return slices(messages, self._terms, self._count_tokens)

    def _shadowed(self, request: ExtractionRequest) -> ExtractionRequest | None:
        """The request for the shadows of the replayed namespaces; None if it feeds none."""
        generation = self._generation
        if not self._within(request.namespaces):
            return None
        return replace(
            request,
            request_id=ids.derive("replay", generation.generation_id, request.request_id),
            namespaces=self._shadows(request.namespaces),
            speakers=tuple(replace(each, namespaces=self._shadows(each.namespaces)) for each in request.speakers),
            partition=NO_PARTITION,
            requested_at=generation.created_at,
            lane="background",
        )

    def _shadows(self, namespaces: Collection[str]) -> tuple[str, ...]:
        """The shadows of the replayed ones among these namespaces."""
        return tuple(shadow_of(self._generation.generation_id, namespace) for namespace in self._within(namespaces))

    def _policies_feeding(self, policies: PolicySelector, scope: Scope) -> list[str]:
        policy = policies.match(scope)
        return self._within(policy.namespaces_of(scope)) if policy.extract else []

    def _within(self, namespaces: Collection[str]) -> list[str]:
        return [each for each in namespaces if covers(self._generation.plan.namespaces, each)]

    async def _replay(
        self,
        planned: PlannedConversation,
        messages: Sequence[ArchivedMessage],
        requests: Sequence[ExtractionRequest],
        turns: Sequence[QueuePlace],
    ) -> None:
        generation_id = self._generation.generation_id
        async with AsyncExitStack() as places:
            for turn in turns:
                await places.enter_async_context(turn)
            await self._records.feeds(generation_id, self._namespaces(messages, requests))
            await self._records.done(generation_id, await self._answered(planned, requests), self._clock())

    def _namespaces(self, messages: Sequence[ArchivedMessage], requests: Sequence[ExtractionRequest]) -> set[str]:
        """The namespaces that the conversation feeds under the replay's policies and those before."""
        now = {live_namespace_of(namespace) for request in requests for namespace in request.namespaces}
        before = (
            {name for each in scopes_of(messages) for name in self._policies_feeding(self._before, each)}
            if messages
            else set()
        )
        return now | before

    async def _answered(
        self, planned: PlannedConversation, requests: Sequence[ExtractionRequest]
    ) -> ReplayedConversation:
        """Answers the requests. A slice that can never be answered is counted, and its messages do not count as replayed."""
        answered: list[ExtractionRequest] = []
        failures: list[Rejected] = []
        for request in requests:
            try:
                await self._slice(request)
                answered.append(request)
            except Rejected as rejected:
                log.warning("slice %s is not replayed: %s", request.request_id, rejected)
                failures.append(rejected)
        failure = str(failures[0]) if failures else None
        ranges = contiguous_ranges(message.position for request in answered for message in request.messages)
        return ReplayedConversation(
            planned=planned, ranges=ranges, slices=len(answered), failed=len(failures), failure=failure
        )

    async def _slice(self, request: ExtractionRequest) -> None:
        """Answers one slice. Raises Rejected if it can never be answered; Retryable or Deferred when retries are exhausted."""
        stored = await self._with_retries(partial(self._extractor.stored_answer, request, self._owner, always))
        assert stored is not None
        for batch in candidate_batches(request, codec.decode(stored, Answer), self._clock()):
            await self._with_retries(partial(self._curator.curate, batch))

    async def _with_retries(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Retries temporary failures, busy models and spent budgets included, up to a time limit."""
        waited_s, pause_s = 0.0, 1.0
        while True:
            try:
                return await attempt()
            except (Retryable, Deferred) as exc:
                if isinstance(exc, Deferred) and exc.reason != "busy":
                    pause_s = max(pause_s, (exc.until - self._clock()).total_seconds())
                if waited_s + pause_s > RETRY_FOR_S:
                    raise
                log.warning("the replay failed, trying again in %.0f s: %s", pause_s, exc)
                await self._sleep(pause_s)
                waited_s, pause_s = waited_s + pause_s, min(2 * pause_s, LONGEST_PAUSE_S)


def scope_of(messages: Sequence[ArchivedMessage]) -> Scope:
    """The scope of a conversation, as its window learns it."""
    return reduce(merged, (Scope.of(each.message) for each in messages))


def scopes_of(messages: Sequence[ArchivedMessage]) -> list[Scope]:
    """The scope for each speaker."""
    scope = scope_of(messages)
    return list(dict.fromkeys(said_in(scope, each) for each in messages))


def said_in(scope: Scope, archived: ArchivedMessage) -> Scope:
    """The conversation's scope for the speaker of a message."""
    return replace(scope, user_id=archived.message.user_id or scope.user_id)


def contiguous_ranges(positions: Iterable[int]) -> list[tuple[int, int]]:
    """The first and last position of each run without holes, in order. Messages between two of a slice may be missing, as
    retention deletes from the middle of a conversation."""
    found: list[tuple[int, int]] = []
    for at in sorted({*positions}):
        if found and found[-1][1] == at - 1:
            found[-1] = (found[-1][0], at)
        else:
            found.append((at, at))
    return found


def always() -> bool:
    """Always True: no other worker takes over a replayed conversation."""
    return True
