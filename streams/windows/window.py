"""The token window of a conversation: applies events, requests extraction, and removes messages that are no longer needed.

Methods take values and the time, change the window, and return effects. An event that is applied twice changes nothing the
second time: the head keeps offsets, and the window keeps message ids.
"""

from collections.abc import Callable, Collection, Iterable

from schemas.budgets.budgets import Lane
from schemas.conversations.adjustments import Adjustments
from schemas.conversations.messages import ConversationEnded, Message, Scope
from schemas.conversations.window_choices import WindowChoice
from schemas.conversations.windows import Gap
from schemas.erasure.erasures import Fence
from schemas.extraction.requests import SliceMessage
from schemas.kafka import topics
from schemas.policies.policies import Policy
from schemas.windows.window_controls import WindowControl
from streams.windows.adjuster import Adjuster
from streams.windows.arrival import make_entry, update_head
from streams.windows.context.history import History
from streams.windows.deadline import Deadline
from streams.windows.detectors.detect import Detected, detect_in
from streams.windows.effects import Effect, EndedIncomplete, MessageMarked
from streams.windows.entry import Entry
from streams.windows.extraction.progress import Extraction
from streams.windows.rows.chunks import Chunks
from streams.windows.rows.head import Head, HeldEnd, Removals, WindowErasure
from streams.windows.stored_messages import StoredMessages
from streams.windows.terms import Terms

TermsOf = Callable[["Window"], Terms]  # must not raise: the window has stored the message's offset before the call


class Window:
    """`entries` holds the window's messages by position, in order: those in context, and those that wait for extraction.

    `terms` is a cache of the caller's last look-up; the window clears it when a change may affect it.
    """

    def __init__(
        self,
        head: Head,
        entries: Iterable[Entry] = (),
        removals: Removals | None = None,
        chunks: Chunks | None = None,
        adjustments: Adjustments | None = None,
    ) -> None:
        removals = removals or Removals()
        self.head = head
        self.messages = StoredMessages(entries, chunks or Chunks(), removals.removed_digests)
        self.entries = self.messages.entries
        self.terms: Terms | None = None
        self.adjustments = adjustments or Adjustments()
        self.history = History(head, self.entries, removals, self.adjustments)
        self.adjuster = Adjuster(self.adjustments, self.entries, self.history)
        self._extraction = Extraction(head, self.entries)

    @classmethod
    def opened(cls, conversation_id: str, partition: int) -> "Window":
        """A new, empty window."""
        return cls(Head(scope=Scope(conversation_id=conversation_id), partition=partition))

    def is_applied(self, topic: str, offset: int) -> bool:
        """Whether the event was applied before. If not, its offset counts as applied from now on."""
        if offset < self.head.applied.get(topic, 0):
            return True
        self.head.applied[topic] = offset + 1
        return False

    def add(
        self,
        message: Message,
        offset: int,
        tokens: int,
        terms_of: TermsOf,
        now: float,
        found: Detected | None = None,
        trace: str | None = None,
    ) -> list[Effect]:
        """Adds a message of `tokens` counted tokens; then requests extraction and prunes if the terms require it.

        Does nothing for a repeated offset or message_id. `terms_of` is called after the head has the message's scope and model.
        `found` is the detectors' result, if the caller has it already. `trace` is the message's trace context.
        """
        if self.is_applied(topics.MESSAGES, offset) or self.messages.has_seen(message.message_id):
            return []
        head = self.head
        if update_head(head, message):
            self.terms = None
        terms = terms_of(self)
        if not head.received:
            head.first_position = offset
        head.received += 1
        head.changed_at = head.last_message_at = now
        before = head.segmentation
        entry, turn, head.segmentation = make_entry(
            message,
            found or detect_in(message),
            offset,
            tokens,
            before,
            terms.policy.window.task_gap_s,
            trace,
            head.scope.user_id,
        )
        self.messages.add(entry)
        effects = [*self._extraction.take(entry.message, terms, now), *self.history.take(turn, before, terms, now)]
        if not terms.policy.extract:
            self._remove([*self.history.removed])
        elif effects:
            self._remove(self.history.newly_removed())
        return effects

    def end(
        self, event: ConversationEnded, offset: int, log_end: int, read_to: int, terms: Terms, now: float
    ) -> list[Effect]:
        """Holds the end event until the messages partition is read to `log_end`, its end when the event arrived."""
        if self.is_applied(topics.ENDED, offset):
            return []
        self.head.changed_at = now
        self.head.held_end = HeldEnd(
            log_end,
            now + terms.policy.straggler_wait_s,
            event.last_message_id,
            event.message_count,
            event.timestamp.timestamp(),
        )
        return self.release(read_to, terms, now)

    def release(self, read_to: int, terms: Terms, now: float) -> list[Effect]:
        """Applies a held end event once all its messages arrived, or its deadline passed."""
        head, held = self.head, self.head.held_end
        if held is None or read_to < held.read_to or (now < held.deadline and not self._complete(held)):
            return []
        head.held_end = None
        head.ended, head.resumed, head.ended_at = True, False, held.ended_at
        effects = self._request_waiting(terms, now, may_wait=True) if terms.policy.triggers.on_end else []
        if not self._complete(held):
            end_position, announced = head.applied[topics.ENDED] - 1, (held.message_count, held.last_message_id)
            effects.append(EndedIncomplete(head.scope, end_position, head.received, *announced))
        return effects

    def _complete(self, held: HeldEnd) -> bool:
        last_arrived = held.last_message_id is None or self.messages.has_seen(held.last_message_id)
        return last_arrived and (held.message_count is None or self.head.received >= held.message_count)

    def control(
        self, control: WindowControl, offset: int, terms: Terms, now: float, summary_tokens: int = 0
    ) -> list[Effect]:
        """Applies a control event of memstream. `summary_tokens` is the size of the event's summary, if it has one."""
        if self.is_applied(topics.WINDOW_CONTROL, offset):
            return []
        effects: list[Effect] = []
        if control.kind == "flush":
            is_background = control.lane == "background"
            effects = [] if is_background else [*self._extraction.hasten(terms.policy, now)]
            effects += self._request_waiting(terms, now, control.lane or "live", may_wait=is_background)
        elif control.kind == "due":
            effects = self.due(control.read_to or 0, terms, now)
        elif control.kind == "prune":
            effects = self.history.prune("manual", terms, now)
        elif control.kind == "clear":
            effects = self.history.clear(terms, now)
        elif control.kind == "restore":
            effects = self.history.restore(terms, now, control.at.timestamp())
        elif control.kind == "mark":
            effects = self._mark(control, offset)
        elif control.kind == "settings":
            self.adjuster.choose(control.settings)
            self.terms = None
        elif control.kind == "rated":
            self.adjuster.rate(control.ratings)
        elif control.kind == "erase":
            effects = self.erase(control.fence(self.head.partition), terms, now, control.users)
        elif control.kind == "summarised":
            effects = self._summarised(control, summary_tokens, terms, now)
        elif control.request_id:
            effects = self._answered(control.request_id, terms, now)
        self._remove(self.history.newly_removed())
        return effects

    def _mark(self, control: WindowControl, offset: int) -> list[Effect]:
        assert control.message_id is not None and control.importance is not None  # WindowControl validates this
        message_id, mark = control.message_id, control.importance
        outcome = self.adjuster.mark(message_id, mark, known=self.messages.has_seen(message_id))
        return [MessageMarked(self.head.scope, offset, message_id, mark, outcome)]

    def adopt(self, settings: WindowChoice | None) -> None:
        """Applies the user's settings for all their conversations."""
        if self.adjuster.adopt(settings):
            self.terms = None

    def prune_if_due(self, terms: Terms, now: float) -> list[Effect]:
        """Prunes if changed terms require it."""
        effects = self.history.prune_if_due(terms, now)
        self._remove(self.history.newly_removed())
        return effects

    def _answered(self, request_id: str, terms: Terms, now: float) -> list[Effect]:
        """Removes the answered slice's messages that left the context, and requests the next slices if any wait."""
        request = self._extraction.answered(request_id, now)
        if request is None:
            return []
        self._remove([at for at in self._extraction.between(request.first, request.last) if at in self.history.removed])
        if not self.head.at_request_limit:
            return []
        return self._request_waiting(terms, now, "background" if request.background else "live")

    def _summarised(self, control: WindowControl, tokens: int, terms: Terms, now: float) -> list[Effect]:
        if control.first is None or control.last is None or not control.summary:
            return []
        part = Gap(control.first, control.last, 0, 0, control.summary, tokens)
        return self.history.summarised(part, control.known, terms, now)

    def due(self, read_to: int, terms: Terms, now: float) -> list[Effect]:
        """Applies every deadline that has passed: a held end, time triggers, the undo period, and requests without an answer."""
        effects = self.release(read_to, terms, now)
        self.history.end_undo(now)
        due_at = self._extraction.due_at(terms.policy)
        if due_at is not None and now >= due_at:
            lane = self._extraction.due_lane(terms.policy, now)
            effects += self._request_waiting(terms, now, lane, may_wait=True)
        return [*effects, *self._extraction.request_again(terms.policy, now)]

    def _request_waiting(
        self, terms: Terms, now: float, lane: Lane = "live", *, may_wait: bool = False
    ) -> list[Effect]:
        effects: list[Effect] = [*self._extraction.request_all(terms.policy, now, lane, may_wait=may_wait)]
        if not terms.policy.extract:
            self._remove([*self.history.removed])
        return effects

    def _remove(self, positions: Iterable[int]) -> None:
        """Deletes those of the messages that are out of context, extracted, and not needed for an undo."""
        out, head = self.history.removed, self.head
        is_undoable = self.history.is_undoable
        leaving = [at for at in positions if at in out and head.extracted(at) and not is_undoable(at)]
        if not leaving:
            return
        for position in leaving:
            self.adjuster.forget(self.messages.remove(position))
        self.history.forget(leaving, self.messages.removed_digests)
        rows = self.messages.chunks.numbers
        head.listed_chunks = [number for number in head.listed_chunks if number in rows]
        while head.first_chunk < head.next_chunk and head.first_chunk not in rows:
            head.first_chunk += 1

    def erase(self, fence: Fence, terms: Terms, now: float, users: Collection[str] = ()) -> list[Effect]:
        """Deletes every message older than the erasure, extracted or not; with `users` only theirs and those of no user.

        Also deletes the marker summaries and pruning records that may contain words of erased messages.
        """
        head, partition = self.head, self.head.partition
        refused = (at for at, entry in self.entries.items() if fence.refuses(entry.message.timestamp, partition, at))
        erased = dict.fromkeys(at for at in refused if not users or self._is_of(users, self.entries[at].message))
        record = WindowErasure(fence.at.timestamp(), len(erased))
        if users:
            head.user_erasures |= dict.fromkeys(users, record)
            head.returned_speakers = [each for each in head.returned_speakers if each not in users]
        else:
            head.last_erasure = record
        if not users or head.scope.user_id in users:
            self.adopt(None)
            head.owner_names = []
        head.changed_at = now
        self.history.changed = True
        if not erased and 0 < fence.positions.get(partition, 0) <= head.first_position:
            return []  # the whole window is newer than the fence
        for position in erased:
            self.adjuster.forget(self.messages.remove(position))
        self.history.erase(erased)
        self.history.forget(erased, self.messages.removed_digests)
        self._extraction.erase(erased, now, of_some_users=bool(users))
        self.messages.rewrite_all()
        head.listed_chunks, head.first_chunk = [], head.next_chunk
        return self._request_waiting(terms, now) if head.at_request_limit else []

    def _is_of(self, users: Collection[str], message: SliceMessage) -> bool:
        """Whether one of the users, or no known user, sent the message: an assistant may repeat a user's words, and an unnamed
        message may be anybody's."""
        if message.role != "user" or message.unnamed:
            return True
        return (message.user_id or self.head.scope.user_id) in users

    def deadline(self, policy: Policy) -> Deadline:
        """The next time or offset at which `due` has something to do."""
        held = self.head.held_end
        times = [request.due for request in self.head.pending]
        if (due_at := self._extraction.due_at(policy)) is not None:
            times.append(due_at)
        if (undoable := self.history.removals.undoable) is not None:
            times.append(undoable.until)
        if self.head.finished:
            times.append(self.head.expires_at(policy))
        return Deadline(
            at=min(times, default=None),
            held_until_offset=held.read_to if held else None,
            held_until=0.0 if held is None or self._complete(held) else held.deadline,
        )

    def expired(self, policy: Policy, now: float) -> bool:
        """Whether the window has been finished for longer than the policy's grace period, so that it may be deleted."""
        return self.head.finished and now >= self.head.expires_at(policy)
