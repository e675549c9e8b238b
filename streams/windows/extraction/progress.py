"""The extraction of a window: what waits to be asked for, what is on its way, what is answered."""

from collections import deque
from collections.abc import Collection, Sequence
from itertools import takewhile

from msgspec import structs

from schemas import ids
from schemas.extraction.requests import ExtractionRequest, Lane, SliceMessage
from schemas.policies.policies import Policy
from streams.windows.entry import Entry
from streams.windows.extraction import slices, triggers
from streams.windows.extraction.triggers import Waiting
from streams.windows.rows.head import Head, Requested
from streams.windows.terms import Terms

MOST_ASKED = 32  # slices of one window on their way at a time; what waits behind them is asked for as answers come

Requests = list[ExtractionRequest]


class Extraction:
    """Reads the window's `entries` and keeps its head's account of them."""

    def __init__(self, head: Head, entries: dict[int, Entry]) -> None:
        self._head = head
        self._entries = entries
        self._positions = deque(position for position in entries if position >= head.cut_to)
        waiting = [entries[position].said for position in self._positions]
        self._tokens = sum(message.tokens for message in waiting)
        self._users = sum(message.role == "user" for message in waiting)

    def take(self, message: SliceMessage, terms: Terms, now: float) -> Requests:
        """A message came in; asks for extraction when that triggers it."""
        if not self._head.waiting_since:
            self._head.waiting_since = now
        self._positions.append(message.position)
        self._tokens += message.tokens
        self._users += message.role == "user"
        policy = terms.policy
        if terms.asks and (not policy.extract or triggers.extracts_at(message, self._tokens, self._users > 0, policy)):
            return self.request_all(policy, now)
        return []

    @property
    def waiting(self) -> Waiting:
        return Waiting(self._head.waiting_since, self._head.heard_at)

    def due_at(self, policy: Policy) -> float | None:
        """When time asks for what waits, if anything does; what waits for answers to others is not asked for by time."""
        head = self._head
        if not head.waiting_since or head.wanted:
            return None
        return triggers.due_at(self.waiting, head.ended, policy)

    def due_lane(self, policy: Policy, now: float) -> Lane:
        """The lane of what is asked for because `due_at` has come."""
        return triggers.lane(self.waiting, self._head.ended, policy, now)

    def request_all(self, policy: Policy, now: float, lane: Lane = "live") -> Requests:
        """Asks for the extraction of every message not asked for yet, as far as that may be on its way at a time.

        Under a policy without extraction they count as extracted.
        """
        head = self._head
        head.wanted = False
        if head.resumed:  # what came late is asked for: from now on it is a conversation like any other
            head.ended = head.resumed = False
        if not policy.extract:
            self._mark_requested(len(self._positions))
            return []
        if len(head.asked) >= MOST_ASKED:  # looked at first: a backlog of thousands is not gone through at each message
            head.wanted = True
            return []
        requests: Requests = []
        overlap = self._before(self._positions[0], policy) if self._positions else []
        for run in slices.cut((self._entries[position] for position in self._positions), policy):
            if len(head.asked) == MOST_ASKED:
                head.wanted = True
                break
            asked = slices.request(
                run, head.scope, head.partition, policy, now, lane=lane, overlap=overlap, in_group=head.in_group
            )
            overlap = latest(run, policy.overlap_messages)
            due = now + policy.reask_after_s
            head.asked.append(
                Requested(asked.request_id, asked.first, asked.last, asked.attempt, due, lane == "background")
            )
            requests.append(asked)
        self._mark_requested(sum(len(request.messages) for request in requests))
        return requests

    def _mark_requested(self, count: int) -> None:
        """The first so many that waited wait no longer."""
        taken = [self._positions.popleft() for _ in range(count)]
        if taken:
            self._head.cut_to = taken[-1] + 1
        if not self._positions:  # nearly always all of them are taken
            self._tokens = self._users = 0
            self._head.waiting_since = 0.0
            return
        for position in taken:
            message = self._entries[position].said
            self._tokens -= message.tokens
            self._users -= message.role == "user"

    def request_again(self, policy: Policy, now: float) -> Requests:
        """The requests whose answers are overdue."""
        requests = []
        for asked in self._head.asked:
            if now < asked.due:
                continue
            asked.attempt += 1
            asked.due = now + policy.reask_after_s * 2 ** (asked.attempt - 1)
            run = [self._entries[at].said for at in self.between(asked.first, asked.last)]
            lane: Lane = "background" if asked.background else "live"
            head, overlap = self._head, self._before(asked.first, policy)
            again = slices.request(
                run, head.scope, head.partition, policy, now, asked.attempt, lane, overlap, head.in_group
            )
            requests.append(structs.replace(again, request_id=asked.request_id))
        return requests

    def _before(self, first: int, policy: Policy) -> Sequence[SliceMessage]:
        """The messages before a slice that go with it, as far as they have not left."""
        if not policy.overlap_messages:
            return []
        earlier = takewhile(lambda at: at < first, self._entries)
        return [self._entries[at].said for at in deque(earlier, maxlen=policy.overlap_messages)]

    def between(self, first: int, last: int) -> list[int]:
        """The positions of messages from `first` to `last`; those before are few, as the oldest leave first."""
        return [at for at in takewhile(lambda at: at <= last, self._entries) if at >= first]

    def erase(self, gone: Collection[int], now: float, *, partly: bool = False) -> None:
        """These messages are no longer in the window. A slice of which some are left is asked for anew. If only some people's
        words are gone, so are the other slices: what waits to be asked about is removed for the whole conversation."""
        head = self._head
        waiting = [position for position in self._positions if position not in gone]
        asked = [self._remaining(asked, gone, now) for asked in head.asked]
        head.asked = [each for each in asked if each is not None]
        for each in head.asked if partly else ():
            each.due = min(each.due, now)
        head.cut_to = max(head.cut_to, *(position + 1 for position in gone), 0) if not waiting else waiting[0]
        if not waiting:
            head.waiting_since = 0.0
        self._positions = deque(waiting)
        messages = [self._entries[position].said for position in waiting]
        self._tokens = sum(message.tokens for message in messages)
        self._users = sum(message.role == "user" for message in messages)

    def _remaining(self, asked: Requested, gone: Collection[int], now: float) -> Requested | None:
        """Under another id, as the question is another one."""
        left = self.between(asked.first, asked.last)
        if not left or not any(asked.first <= at <= asked.last for at in gone):
            return asked if left else None
        request_id = ids.derive("left", asked.request_id, len(left))
        return Requested(request_id, left[0], left[-1], 0, now, asked.background)

    def answered(self, request_id: str, now: float) -> Requested | None:
        """The answer to a slice is stored. One that nobody waits for changes nothing."""
        asked = next((asked for asked in self._head.asked if asked.request_id == request_id), None)
        if asked is not None:
            self._head.asked.remove(asked)
            self._head.touched_at = now
        return asked


def latest(run: Sequence[SliceMessage], count: int) -> Sequence[SliceMessage]:
    return run[-count:] if count else ()
