"""Replays conversations into a generation: the same slices, questions and decisions as live ones, in shadow namespaces.

Ids are derived from the generation and the slice, so that a replay which was killed and begun again asks no model about what
is answered, and remembers nothing twice.
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
from schemas.replay.generations import Generation
from schemas.replay.shadows import live_namespace_of, shadow_of
from sinks.archive.messages import ArchivedMessage
from sinks.replay.generations import PlannedConversation, ReplayedConversation
from streams.windows.arrival import merged
from streams.windows.tokens.counting import TokenCount

log = logging.getLogger(__name__)

NO_PARTITION: Final = (
    -1
)  # no window waits for what is replayed, and no message of a conversation counts as extracted by it
PATIENCE_S: Final = 600.0  # with what may pass, for one slice; then it is for a person to begin again
LONGEST_PAUSE_S: Final = 30.0

T = TypeVar("T")


class ReplayStore(Protocol):
    """Where it is kept how far a generation is; sinks.replay.generations.Generations."""

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
    """`before` are the policies that live messages go by: what they feed is compared as well, once other policies feed
    other namespaces. `concurrency` conversations are on their way at a time; those that share a namespace wait for each other,
    in the order in which they are taken.
    """

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
        """Whether a conversation feeds a namespace of the plan, by the policies of the replay or by those before. `scopes` has
        one for each person who speaks in it."""
        return any(self._fed(self._generation.plan.policies, each) or self._fed(self._before, each) for each in scopes)

    def feeds(self, messages: Sequence[ArchivedMessage]) -> bool:
        """The same of a conversation by its messages."""
        return self.concerns(scopes_of(messages))

    async def add(self, planned: PlannedConversation, messages: Sequence[ArchivedMessage]) -> None:
        """Takes a conversation on, once there is room. Raises what made an earlier one fail."""
        await self._room.acquire()
        self._raise_failed()
        messages = await self._records.unerased(self._policies(messages))
        requests = [shadow for each in self._sliced(messages) if (shadow := self._shadowed(each)) is not None]
        feeds = sorted({namespace for request in requests for namespace in request.namespaces})
        turns = [self._turns.next(namespace.encode()) for namespace in feeds]  # before anything is awaited
        task = asyncio.create_task(self._replay(planned, messages, requests, turns))
        self._running.add(task)
        task.add_done_callback(lambda _: self._room.release())

    async def finish(self) -> None:
        """Waits for all that was taken on. Raises what made one of them fail."""
        await asyncio.gather(*self._running, return_exceptions=True)
        self._raise_failed()

    async def close(self) -> None:
        """Ends what is still running; it is done again when the replay is."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def _raise_failed(self) -> None:
        ended = {task for task in self._running if task.done()}
        self._running -= ended
        for task in ended:
            task.result()

    def _policies(self, messages: Sequence[ArchivedMessage]) -> list[ArchivedMessage]:
        """The messages with all the namespaces that what they say may come into."""
        if not messages:  # erased since they were planned
            return []
        scope = scope_of(messages)
        policy = self._generation.plan.policies.match(scope)
        return [replace(each, feeds=policy.namespaces_of(said_in(scope, each))) for each in messages]

    def _sliced(self, messages: Sequence[ArchivedMessage]) -> list[ExtractionRequest]:
        return slices(messages, self._terms, self._count_tokens)

    def _shadowed(self, request: ExtractionRequest) -> ExtractionRequest | None:
        """The request for the shadows of the namespaces that are replayed; None if it feeds none of them."""
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
        """Of those namespaces that are replayed."""
        return tuple(shadow_of(self._generation.generation_id, namespace) for namespace in self._within(namespaces))

    def _fed(self, policies: PolicySelector, scope: Scope) -> list[str]:
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
        """Those that the conversation feeds now, and those that it fed before."""
        now = {live_namespace_of(namespace) for request in requests for namespace in request.namespaces}
        before = {name for each in scopes_of(messages) for name in self._fed(self._before, each)} if messages else set()
        return now | before

    async def _answered(
        self, planned: PlannedConversation, requests: Sequence[ExtractionRequest]
    ) -> ReplayedConversation:
        """What can never be answered is counted, and its messages do not count as replayed."""
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
        ranges = runs(message.position for request in answered for message in request.messages)
        return ReplayedConversation(
            planned=planned, ranges=ranges, slices=len(answered), failed=len(failures), failure=failure
        )

    async def _slice(self, request: ExtractionRequest) -> None:
        """Raises Rejected for one that can never be answered; Retryable, Deferred when patience is at its end."""
        stored = await self._with_retries(partial(self._extractor.stored_answer, request, self._owner, always))
        assert stored is not None
        for batch in candidate_batches(request, codec.decode(stored, Answer), self._clock()):
            await self._with_retries(partial(self._curator.curate, batch))

    async def _with_retries(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """What may pass is waited for, up to a bound; models that are busy, and budgets, included."""
        waited_s, pause_s = 0.0, 1.0
        while True:
            try:
                return await attempt()
            except (Retryable, Deferred) as exc:
                if isinstance(exc, Deferred) and exc.reason != "busy":
                    pause_s = max(pause_s, (exc.until - self._clock()).total_seconds())
                if waited_s + pause_s > PATIENCE_S:
                    raise
                log.warning("trying again in %.0f s: %s", pause_s, exc)
                await self._sleep(pause_s)
                waited_s, pause_s = waited_s + pause_s, min(2 * pause_s, LONGEST_PAUSE_S)


def scope_of(messages: Sequence[ArchivedMessage]) -> Scope:
    """Whose a conversation is, as its window learned it."""
    return reduce(merged, (Scope.of(each.message) for each in messages))


def scopes_of(messages: Sequence[ArchivedMessage]) -> list[Scope]:
    """The same for each person who speaks in it."""
    scope = scope_of(messages)
    return list(dict.fromkeys(said_in(scope, each) for each in messages))


def said_in(scope: Scope, archived: ArchivedMessage) -> Scope:
    """The conversation's scope for whoever a message belongs to."""
    return replace(scope, user_id=archived.message.user_id or scope.user_id)


def runs(positions: Iterable[int]) -> list[tuple[int, int]]:
    """The first and the last of each stretch without a hole, in order. What lies between two messages of a slice need not have
    been asked about: retention takes messages from the middle of a conversation."""
    found: list[tuple[int, int]] = []
    for at in sorted({*positions}):
        if found and found[-1][1] == at - 1:
            found[-1] = (found[-1][0], at)
        else:
            found.append((at, at))
    return found


def always() -> bool:
    """Nobody takes a conversation of a replay away."""
    return True
