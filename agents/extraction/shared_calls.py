"""One model call for short slices of several conversations.

Each request keeps its own lease, fences, answer and outcome; only the model call is shared.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from agents.models.port import Answer, Context, Provider
from agents.models.prompts.transcript import CHARS_PER_TOKEN, tokens_of
from agents.stage.leases import StillHeld
from schemas import ids
from schemas.errors import Deferred, MemstreamError, Rejected, Retryable
from schemas.extraction.requests import ExtractionRequest
from schemas.policies.policies import Policy

log = logging.getLogger(__name__)

SHARED: Final = "shared"  # the reason of requests that are parked for a shared call
WAIT_S: Final = 5.0  # for the other requests of a call; another worker may hold one of them
FIELDS: Final = ("tenant_id", "app_id", "agent_id", "user_id", "mode")


def sharing_key(request: ExtractionRequest, policy: Policy) -> str | None:
    """The key of requests that may share a call: one known user, the same namespaces and mode, the same policy version. None
    for a request that gets a call of its own."""
    one_by_one = policy.note or policy.window.rate_messages or not is_of_one_person(request)
    if not request.may_wait or one_by_one or request.purpose != "extract" or not policy.share_wait_s:
        return None
    if slice_tokens(request) >= policy.share_tokens:
        return None
    common = [str(getattr(request.scope, name)) for name in FIELDS]
    return ids.derive(
        "shared call", request.policy, request.policy_version, request.local_only, *common, *request.namespaces
    )


def is_of_one_person(request: ExtractionRequest) -> bool:
    """Whether the user is known, and every user message in slice and overlap is theirs."""
    user_id = request.scope.user_id
    user_messages = (each for each in (*request.overlap, *request.messages) if each.role == "user")
    speaking = {each.user_id for each in request.speakers}.union(map(request.speaker, user_messages))
    return bool(user_id) and speaking <= {user_id}


def slice_tokens(request: ExtractionRequest) -> int:
    return sum(map(tokens_of, request.messages))


def tokens_of_call(request: ExtractionRequest) -> int:
    """The tokens that a request adds to a shared call: its slice and its overlap."""
    return slice_tokens(request) + sum(len(each.content) // CHARS_PER_TOKEN for each in request.overlap)


class Member(Struct, frozen=True):
    """A request that joined the call."""

    request: ExtractionRequest
    still_leased: StillHeld


class SharedCall:
    """Waits for the requests with the ids `expected`, until each has joined or left, or for `wait_s` seconds. Then makes
    one model call for those that joined, in one of `slots`.

    `without_erased` removes erased messages from a request; `context_of` returns its context under the current policy. Both
    are called after the wait. With `busy` the call does not wait for a slot but raises the error that `busy` returns.
    """

    def __init__(
        self,
        expected: Iterable[str],
        provider: Provider,
        without_erased: Callable[[ExtractionRequest], Awaitable[ExtractionRequest]],
        context_of: Callable[[ExtractionRequest], Awaitable[Context]],
        slots: asyncio.Semaphore,
        busy: Callable[[], Deferred] | None = None,
        wait_s: float = WAIT_S,
    ) -> None:
        self._expected = set(expected)
        self._provider, self._slots = provider, slots
        self._without_erased, self._context_of = without_erased, context_of
        self._busy, self._wait_s = busy, wait_s
        self._members: list[Member] = []
        self._waiting = 0
        self._complete = asyncio.Event()
        self._calling: asyncio.Task[Mapping[str, Answer | None]] | None = None

    async def answer(self, request: ExtractionRequest, still_leased: StillHeld) -> Answer | None:
        """Joins the call, and returns the answer to the request. None if the request needs a call of its own: it joined too
        late, the model rejected the shared call, the call failed unexpectedly, a message was erased meanwhile, or the
        policy no longer allows sharing. Raises as the provider does."""
        if self._calling is not None and self._complete.is_set():
            return None
        self._members.append(Member(request, still_leased))
        self._calling = self._calling or asyncio.create_task(self._call())
        self._waiting += 1
        self.leave(request.request_id)
        try:
            # A cancelled member must not cancel the call of the others.
            return (await asyncio.shield(self._calling))[request.request_id]
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._calling.cancel()

    def leave(self, request_id: str) -> None:
        """Notes that the request will not join."""
        self._expected.discard(request_id)
        if not self._expected:
            self._complete.set()

    async def _call(self) -> Mapping[str, Answer | None]:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._complete.wait(), self._wait_s)
        self._complete.set()
        answers = await self._answers(self._members)
        return {each.request.request_id: answer for each, answer in zip(self._members, answers, strict=True)}

    async def _answers(self, members: Sequence[Member]) -> list[Answer | None]:
        if self._busy is not None and self._slots.locked():
            raise self._busy()
        async with self._slots:
            try:
                answers = await self._answers_together(members)
            except Exception as exc:
                passing = isinstance(exc, MemstreamError) and not isinstance(exc, Rejected)
                if len(members) == 1 or passing:
                    raise
                # A single slice may cause the failure: only its own request must become a dead letter.
                unforeseen = None if isinstance(exc, Rejected) else exc
                log.warning(
                    "%d slices of a failed shared call get a call each: %s", len(members), exc, exc_info=unforeseen
                )
                answers = [None] * len(members)
        if await self._some_erased(members):
            return answer_singly(members, "a message was erased during the call")
        return answers

    async def _answers_together(self, members: Sequence[Member]) -> list[Answer | None]:
        """Makes the call, unless erasures or policy changes during the wait forbid it."""
        slices = [(each.request, await self._context_of(each.request)) for each in members]
        if len(members) > 1 and not may_share(slices):
            return answer_singly(members, "the policy no longer allows sharing")
        if await self._some_erased(members):
            return answer_singly(members, "a message was erased")
        if not all(each.still_leased() for each in members):
            raise Retryable("a lease expired before the call could start: another worker may be making it")
        if len(members) == 1:
            return [await self._provider.extract(*slices[0])]
        return list(await self._provider.extract_together(slices))

    async def _some_erased(self, members: Sequence[Member]) -> bool:
        """Whether any member lost messages: an answer about one conversation may contain words of another."""
        return any([await self._without_erased(each.request) != each.request for each in members])


def may_share(slices: Sequence[tuple[ExtractionRequest, Context]]) -> bool:
    """Whether these requests may share a call under their current, common policy."""
    keys = {sharing_key(request, context.policy) for request, context in slices}
    return len(keys) == 1 and None not in keys and all(context.policy == slices[0][1].policy for _, context in slices)


def answer_singly(members: Sequence[Member], reason: str) -> list[Answer | None]:
    log.info("%d slices of a shared call get a call each: %s", len(members), reason)
    return [None] * len(members)
