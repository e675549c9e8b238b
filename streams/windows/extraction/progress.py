"""The extraction of a window: waiting messages, pending requests, answers."""

from collections import deque
from collections.abc import Collection, Sequence
from itertools import takewhile

from msgspec import structs

from schemas import ids
from schemas.budgets.budgets import Lane
from schemas.extraction.requests import ExtractionRequest, SliceMessage
from schemas.policies.policies import Policy
from streams.windows.entry import Entry
from streams.windows.extraction import slices, triggers
from streams.windows.extraction.triggers import Waiting
from streams.windows.rows.head import Head, PendingRequest
from streams.windows.terms import Terms

MAX_PENDING_REQUESTS = 32  # unanswered requests of one window; further slices are requested as answers arrive

Requests = list[ExtractionRequest]


class Extraction:
    """Tracks which messages of `entries` wait for extraction, and the pending requests in the `head`."""

    def __init__(self, head: Head, entries: dict[int, Entry]) -> None:
        self._head = head
        self._entries = entries
        self._positions = deque(position for position in entries if position >= head.requested_to)
        waiting = [entries[position].message for position in self._positions]
        self._tokens = sum(message.tokens for message in waiting)
        self._users = sum(message.role == "user" for message in waiting)

    def take(self, message: SliceMessage, terms: Terms, now: float) -> Requests:
        """Adds a message; requests extraction if the message triggers it."""
        if not self._head.waiting_since:
            self._head.waiting_since = now
        self._positions.append(message.position)
        self._tokens += message.tokens
        self._users += message.role == "user"
        policy = terms.policy
        if not terms.extracts_on_arrival:
            return []
        if not policy.extract or triggers.extracts_at(message, self._tokens, self._users > 0, policy):
            return self.request_all(policy, now)
        return []

    @property
    def waiting(self) -> Waiting:
        return Waiting(self._head.waiting_since, self._head.last_message_at)

    def due_at(self, policy: Policy) -> float | None:
        """When a time trigger requests the waiting messages (Unix seconds); None if no message waits, or the limit of pending
        requests is reached."""
        head = self._head
        if not head.waiting_since or head.at_request_limit:
            return None
        return triggers.due_at(self.waiting, head.ended, policy)

    def due_lane(self, policy: Policy, now: float) -> Lane:
        """The lane of a request that `due_at` triggers."""
        return triggers.lane(self.waiting, self._head.ended, policy, now)

    def request_all(self, policy: Policy, now: float, lane: Lane = "live", *, may_wait: bool = False) -> Requests:
        """Requests extraction of every waiting message, up to MAX_PENDING_REQUESTS slices.

        `may_wait`: the requests may be parked, as no client waits for the result. Under a policy without extraction the messages
        count as extracted, and nothing is requested.
        """
        head = self._head
        head.at_request_limit = False
        if head.resumed:  # messages after the end are requested now: the conversation is open again
            head.ended = head.resumed = False
        if not policy.extract:
            self._mark_requested(len(self._positions))
            return []
        if len(head.pending) >= MAX_PENDING_REQUESTS:  # checked before cutting, which takes time for a long backlog
            head.at_request_limit = True
            return []
        requests: Requests = []
        overlap = self._before(self._positions[0], policy) if self._positions else []
        for run in slices.cut((self._entries[position] for position in self._positions), policy):
            if len(head.pending) == MAX_PENDING_REQUESTS:
                head.at_request_limit = True
                break
            request = slices.request(
                run,
                head.scope,
                head.partition,
                policy,
                now,
                lane=lane,
                overlap=overlap,
                in_group=head.in_group,
                may_wait=may_wait,
                owner_names=head.owner_names,
            )
            overlap = latest(run, policy.overlap_messages)
            due = now + policy.reask_after_s
            head.pending.append(
                PendingRequest(
                    request.request_id,
                    request.first,
                    request.last,
                    request.attempt,
                    due,
                    lane == "background",
                    may_wait,
                )
            )
            requests.append(request)
        self._mark_requested(sum(len(request.messages) for request in requests))
        return requests

    def _mark_requested(self, count: int) -> None:
        """Marks the first `count` waiting messages as requested."""
        taken = [self._positions.popleft() for _ in range(count)]
        if taken:
            self._head.requested_to = taken[-1] + 1
        if not self._positions:  # the usual case
            self._tokens = self._users = 0
            self._head.waiting_since = 0.0
            return
        for position in taken:
            message = self._entries[position].message
            self._tokens -= message.tokens
            self._users -= message.role == "user"

    def request_again(self, policy: Policy, now: float) -> Requests:
        """Repeats the requests whose answers are overdue."""
        requests = []
        for request in self._head.pending:
            if now < request.due:
                continue
            request.attempt += 1
            request.due = now + policy.reask_after_s * 2 ** (request.attempt - 1)
            requests.append(self._again(request, policy, now))
        return requests

    def hasten(self, policy: Policy, now: float) -> Requests:
        """Repeats the requests that may be parked, to be answered at once."""
        parked = [request for request in self._head.pending if request.may_wait]
        for request in parked:
            request.may_wait = False
        return [self._again(request, policy, now) for request in parked]

    def _again(self, request: PendingRequest, policy: Policy, now: float) -> ExtractionRequest:
        """The same request under the same id, to be answered at once."""
        run = [self._entries[at].message for at in self.between(request.first, request.last)]
        lane: Lane = "background" if request.background else "live"
        head, overlap = self._head, self._before(request.first, policy)
        again = slices.request(
            run,
            head.scope,
            head.partition,
            policy,
            now,
            request.attempt,
            lane,
            overlap,
            head.in_group,
            owner_names=head.owner_names,
        )
        return structs.replace(again, request_id=request.request_id)

    def _before(self, first: int, policy: Policy) -> Sequence[SliceMessage]:
        """The overlap: messages before a slice that are still in the window."""
        if not policy.overlap_messages:
            return []
        earlier = takewhile(lambda at: at < first, self._entries)
        return [self._entries[at].message for at in deque(earlier, maxlen=policy.overlap_messages)]

    def between(self, first: int, last: int) -> list[int]:
        """The positions of the window's messages from `first` to `last`, both included."""
        return [at for at in takewhile(lambda at: at <= last, self._entries) if at >= first]

    def erase(self, erased: Collection[int], now: float, *, of_some_users: bool = False) -> None:
        """Removes the messages `gone`. A pending slice that loses messages gets a new request for the rest.

        `of_some_users`: only some users' messages are erased; then every other pending request is repeated too.
        """
        head = self._head
        waiting = [position for position in self._positions if position not in erased]
        remaining = [self._remaining(request, erased, now) for request in head.pending]
        head.pending = [request for request in remaining if request is not None]
        for request in head.pending if of_some_users else ():
            request.due = min(request.due, now)
        head.requested_to = (
            max(head.requested_to, *(position + 1 for position in erased), 0) if not waiting else waiting[0]
        )
        if not waiting:
            head.waiting_since = 0.0
        self._positions = deque(waiting)
        messages = [self._entries[position].message for position in waiting]
        self._tokens = sum(message.tokens for message in messages)
        self._users = sum(message.role == "user" for message in messages)

    def _remaining(self, request: PendingRequest, erased: Collection[int], now: float) -> PendingRequest | None:
        """The pending request for the rest of a slice; None for an empty rest. A changed slice gets a new request id."""
        left = self.between(request.first, request.last)
        if not left or not any(request.first <= at <= request.last for at in erased):
            return request if left else None
        request_id = ids.derive("left", request.request_id, len(left))
        return PendingRequest(request_id, left[0], left[-1], 0, now, request.background)

    def answered(self, request_id: str, now: float) -> PendingRequest | None:
        """Ends a pending request: its answer is stored. An unknown request changes nothing."""
        request = next((each for each in self._head.pending if each.request_id == request_id), None)
        if request is not None:
            self._head.pending.remove(request)
            self._head.changed_at = now
        return request


def latest(run: Sequence[SliceMessage], count: int) -> Sequence[SliceMessage]:
    return run[-count:] if count else ()
