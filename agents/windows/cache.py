"""Windows in memory between events, with their deadlines, for one epoch of this worker."""

import heapq
import logging
from collections.abc import Callable, Iterator
from math import inf

from schemas.conversations.messages import Scope
from schemas.policies.policies import Policy
from streams.delivery.app import StageApp
from streams.delivery.ledger import Ledger
from streams.delivery.store import Rows
from streams.windows.deadline import Deadline
from streams.windows.rows import rows
from streams.windows.rows.head import Head
from streams.windows.seen_messages import REMEMBERED
from streams.windows.window import Window

log = logging.getLogger(__name__)

CACHED_WINDOWS = 20_000
CACHED_BYTES = 536_870_912  # approximate


class WindowCache:
    """Loads windows from the table's rows and tracks changed ones. Emptied when an epoch ends."""

    def __init__(self, app: StageApp, policy: Callable[[Window], Policy]) -> None:
        self._app = app
        self._policy = policy
        self._epoch = 0
        self._reset()

    def _reset(self) -> None:
        self._windows: dict[tuple[int, str], Window] = {}
        self._bytes: dict[tuple[int, str], int] = {}
        self._all_bytes = 0
        self._changed: dict[int, dict[str, Window]] = {}
        self._saved: dict[int, Rows] = {}
        self._forgotten: dict[int, list[Window]] = {}
        self._applied: dict[int, int] = {}
        self._alarms: dict[int, dict[str, Deadline]] = {}
        self._times: dict[int, list[tuple[float, str]]] = {}
        self._queued: dict[tuple[int, str], float] = {}
        self._held: dict[int, set[str]] = {}
        self._returned_at: dict[tuple[int, str], float] = {}

    def enter(self, epoch: int) -> None:
        """Enters an epoch: drops everything of another one and finds the deadlines in the rows."""
        if epoch == self._epoch:
            return
        self._epoch = epoch
        self._reset()
        self._find_deadlines()

    def rescan_deadlines(self) -> None:
        """Finds all deadlines again after a change of policies."""
        self._alarms, self._times, self._queued, self._held = {}, {}, {}, {}
        self._find_deadlines()

    def _find_deadlines(self) -> None:
        assert self._app.checkpointer is not None
        for partition in self._app.checkpointer.partitions:
            for head in rows.heads(self._ledger(partition).scan):
                self._find_deadline(partition, head)

    def _find_deadline(self, partition: int, head: Head) -> None:
        """Reads the window's messages only for a held end."""
        window = self._read_only_window(head.scope.conversation_id, partition) if head.held_end else Window(head)
        if window is not None:
            self._set_deadline(partition, window)

    def _read_only_window(self, conversation_id: str, partition: int) -> Window | None:
        """The window, for reading only. An unreadable one is logged and skipped, so that it does not stop the others."""
        try:
            return self._load(conversation_id, partition)
        except Exception:
            log.exception("partition %d: reading the window of conversation %r failed", partition, conversation_id)
            self._held.get(partition, set()).discard(conversation_id)
            return None

    def _ledger(self, partition: int) -> Ledger:
        assert self._app.checkpointer is not None
        return self._app.checkpointer[partition]

    def window(self, conversation_id: str, partition: int) -> Window:
        """The conversation's window, for changes; a new one if there is none."""
        window = self.existing(conversation_id, partition)
        if window is None:
            window = self._windows[partition, conversation_id] = Window.opened(conversation_id, partition)
            self._changed.setdefault(partition, {})[conversation_id] = window
        return window

    def existing(self, conversation_id: str, partition: int) -> Window | None:
        """The conversation's window, for changes; None if there is none."""
        changed = self._changed.setdefault(partition, {})
        window = changed.get(conversation_id) or self._load(conversation_id, partition)
        if window is not None:
            changed[conversation_id] = window
        return window

    def scope(self, conversation_id: str, partition: int) -> Scope:
        """The conversation's scope; only its id if there is no window."""
        window = self._read_only_window(conversation_id, partition)
        return Scope(conversation_id=conversation_id) if window is None else window.head.scope

    def may_have_forgotten(self, conversation_id: str, partition: int) -> bool:
        """Whether the window may have forgotten ids of the conversation's messages."""
        window = self._read_only_window(conversation_id, partition)
        return window is None or len(window.history.removals.removed_digests) >= REMEMBERED

    def _load(self, conversation_id: str, partition: int) -> Window | None:
        key = (partition, conversation_id)
        window = self._windows.pop(key, None)
        if window is None:
            window = rows.load(conversation_id, self._reader(partition))
            if window is None:
                return None
            self._note_size(key, window.messages.memory_bytes)
        self._windows[key] = window  # least recently used windows are evicted first
        return window

    def _reader(self, partition: int) -> rows.Read:
        """Reads rows, including saved ones that were not taken yet."""
        read, saved = self._ledger(partition).read, self._saved.get(partition)
        if not saved:
            return read
        return lambda key: saved[key] if key in saved else read(key)

    def ready(self, partition: int, read_to: int, now: float) -> list[str]:
        """Conversations whose held end can be applied."""
        alarms = self._alarms.get(partition, {})
        held = sorted(self._held.get(partition, ()))
        due = [each for each in held if alarms[each].is_due(read_to, now)]
        peeked = [self._read_only_window(each, partition) for each in due]
        ready = [w for w in peeked if w is not None and w.deadline(self._policy(w)).is_due(read_to, now)]
        return [window.head.scope.conversation_id for window in ready]

    def put_off(self, partition: int, conversation_id: str) -> None:
        """Ignores the conversation's held end until its window changes or another epoch begins."""
        self._held.get(partition, set()).discard(conversation_id)

    def forget(self, window: Window) -> None:
        """Deletes the window's rows with the current batch."""
        self._forgotten.setdefault(window.head.partition, []).append(window)

    def take_rows(self, partition: int) -> Rows:
        """The rows of every window changed since the last call."""
        self.save(partition)
        self._evict()
        return self._saved.pop(partition, {})

    def save(self, partition: int) -> None:
        """Writes the rows of changed windows, to be taken later. If it fails, call `discard`."""
        changes: Rows = {}
        for conversation_id, window in self._changed.get(partition, {}).items():
            changes |= rows.save(window)
            self._set_deadline(partition, window)
            self._note_size((partition, conversation_id), window.messages.memory_bytes)
            self._returned_at.pop((partition, conversation_id), None)
        for window in self._forgotten.get(partition, []):
            changes |= rows.tombstone(window)
            self._drop(partition, window.head.scope.conversation_id)
        self._changed.pop(partition, None)
        self._forgotten.pop(partition, None)
        self._saved.setdefault(partition, {}).update(changes)

    def discard(self, partition: int) -> None:
        """Undoes changes since rows were last saved or taken: the windows are read again."""
        self._forgotten.pop(partition, None)
        for conversation_id in self._changed.pop(partition, {}):
            self._windows.pop((partition, conversation_id), None)
            self._note_size((partition, conversation_id), 0)

    def _drop(self, partition: int, conversation_id: str) -> None:
        self._windows.pop((partition, conversation_id), None)
        self._note_size((partition, conversation_id), 0)
        self._alarms.get(partition, {}).pop(conversation_id, None)
        self._held.get(partition, set()).discard(conversation_id)
        self._queued.pop((partition, conversation_id), None)

    def _note_size(self, key: tuple[int, str], memory_bytes: int) -> None:
        self._all_bytes += memory_bytes - self._bytes.pop(key, 0)
        if memory_bytes:
            self._bytes[key] = memory_bytes

    def _evict(self) -> None:
        """Evicts the least recently used windows above the limits."""
        while self._windows and (len(self._windows) > CACHED_WINDOWS or self._all_bytes > CACHED_BYTES):
            key = next(iter(self._windows))
            del self._windows[key]
            self._note_size(key, 0)

    def applied(self, partition: int, end: int) -> None:
        """Notes the end of the last applied batch of messages."""
        self._applied[partition] = end

    def applied_to(self, partition: int) -> int | None:
        return self._applied.get(partition)

    def _set_deadline(self, partition: int, window: Window) -> None:
        conversation_id = window.head.scope.conversation_id
        alarm = window.deadline(self._policy(window))
        self._alarms.setdefault(partition, {})[conversation_id] = alarm
        if alarm.at is not None:
            self._queue(partition, conversation_id, alarm.at)
        held = self._held.setdefault(partition, set())
        held.discard(conversation_id)
        if alarm.held_until_offset is not None:
            held.add(conversation_id)

    def _queue(self, partition: int, conversation_id: str, at: float) -> None:
        """Queues a deadline. Each conversation has one entry; an entry before the present deadline is queued again."""
        if at < self._queued.get((partition, conversation_id), inf):
            self._queued[partition, conversation_id] = at
            heapq.heappush(self._times.setdefault(partition, []), (at, conversation_id))

    def due_conversations(self, partition: int, read_to: int, now: float, again_after_s: float) -> Iterator[str]:
        """Conversations that are due; each is returned again only after `again_after_s` seconds without effect."""
        alarms = self._alarms.get(partition, {})
        for conversation_id in {*self._held.get(partition, ()), *self._is_past(partition, now)}:
            alarm = alarms.get(conversation_id)
            if alarm is None:
                continue
            rings = alarm.is_due(read_to, now)
            if alarm.at is not None:
                self._queue(partition, conversation_id, now + again_after_s if rings else alarm.at)
            if not rings:
                continue
            if now - self._returned_at.get((partition, conversation_id), 0.0) >= again_after_s:
                self._returned_at[partition, conversation_id] = now
                yield conversation_id

    def _is_past(self, partition: int, now: float) -> Iterator[str]:
        times = self._times.get(partition, [])
        while times and times[0][0] <= now:
            at, conversation_id = heapq.heappop(times)
            if self._queued.get((partition, conversation_id)) == at:
                del self._queued[partition, conversation_id]
                yield conversation_id
