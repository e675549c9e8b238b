"""The extraction of a window: what waits to be asked for, what is on its way, what is answered."""

from schemas.policies import Policy
from schemas.requests import ExtractionRequest, SliceMessage
from streams.windows import slices, triggers
from streams.windows.entry import Entry
from streams.windows.head import Asked, Head
from streams.windows.terms import Terms
from streams.windows.triggers import Waiting

MOST_ASKED = 32  # slices of one window on their way at a time; what waits behind them is asked for as answers come

Requests = list[ExtractionRequest]


class Extraction:
    """Reads the window's `entries` and keeps its head's account of them."""

    def __init__(self, head: Head, entries: dict[int, Entry]) -> None:
        self._head = head
        self._entries = entries
        self._count_waiting()

    def _count_waiting(self) -> None:
        waiting = self._waiting_messages()
        self._tokens = sum(message.tokens for message in waiting)
        self._user_waits = any(message.role == "user" for message in waiting)

    def _waiting_messages(self) -> list[SliceMessage]:
        cut_to = self._head.cut_to
        return [entry.said for position, entry in self._entries.items() if position >= cut_to]

    def take(self, message: SliceMessage, terms: Terms, now: float) -> Requests:
        """A message came in; asks for extraction when that triggers it."""
        self._head.waiting_since = self._head.waiting_since or now
        self._tokens += message.tokens
        self._user_waits = self._user_waits or message.role == "user"
        policy = terms.policy
        if terms.asks and (not policy.extract or triggers.asked_by(message, self.waiting, policy)):
            return self.cut(policy, now)
        return []

    @property
    def waiting(self) -> Waiting:
        return Waiting(self._head.waiting_since, self._head.heard_at, self._tokens, self._user_waits)

    def due_at(self, policy: Policy) -> float | None:
        """When time asks for what waits, if anything does; what waits for answers to others is not asked for by time."""
        head = self._head
        if not head.waiting_since or head.wanted:
            return None
        return triggers.due_at(self.waiting, head.ended, policy)

    def cut(self, policy: Policy, now: float) -> Requests:
        """Asks for the extraction of every message not asked for yet, as far as that may be on its way at a time.

        Under a policy without extraction they count as extracted.
        """
        head = self._head
        head.wanted = False
        if not policy.extract:
            head.cut_to = max(self._entries, default=head.cut_to - 1) + 1
            return self._none_waits([])
        if len(head.asked) >= MOST_ASKED:  # looked at first: a backlog of thousands is not gone through at each message
            head.wanted = True
            return []
        requests: Requests = []
        for run in slices.cut(self._waiting_messages(), policy):
            if len(head.asked) == MOST_ASKED:
                head.wanted = True
                self._count_waiting()
                return requests
            asked = slices.request(run, head.scope, head.partition, policy, now)
            head.asked.append(
                Asked(asked.request_id, asked.first, asked.last, asked.attempt, now + policy.reask_after_s)
            )
            head.cut_to = asked.last + 1
            requests.append(asked)
        return self._none_waits(requests)

    def _none_waits(self, requests: Requests) -> Requests:
        self._head.waiting_since, self._tokens, self._user_waits = 0.0, 0, False
        return requests

    def ask_again(self, policy: Policy, now: float) -> Requests:
        """The requests whose answers are overdue."""
        requests = []
        for asked in self._head.asked:
            if now < asked.due:
                continue
            asked.attempt += 1
            asked.due = now + policy.reask_after_s * 2 ** (asked.attempt - 1)
            run = [entry.said for at, entry in self._entries.items() if asked.first <= at <= asked.last]
            requests.append(slices.request(run, self._head.scope, self._head.partition, policy, now, asked.attempt))
        return requests

    def answered(self, request_id: str, policy: Policy, now: float) -> Requests:
        """The answer to a slice is stored, and makes room for the next. One that nobody waits for changes nothing."""
        asked = next((asked for asked in self._head.asked if asked.request_id == request_id), None)
        if asked is None:
            return []
        self._head.asked.remove(asked)
        self._head.touched_at = now
        return self.cut(policy, now) if self._head.wanted else []
