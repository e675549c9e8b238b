"""Wakes the event streams of a namespace when it has a new event, so that they need not poll PostgreSQL."""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager


class ChangeNotifier:
    """One instance per process. Notifications carry no content, so superfluous ones are harmless and none queue up."""

    def __init__(self) -> None:
        self._events_by_namespace: dict[str, set[asyncio.Event]] = {}
        self.closed = False
        self._subscribers: Counter[str] = Counter()

    @property
    def subscribers(self) -> int:
        return self._subscribers.total()

    def subscribers_of(self, key_id: str) -> int:
        return self._subscribers[key_id]

    @contextmanager
    def subscribe(self, namespaces: Collection[str], key_id: str) -> Iterator[asyncio.Event]:
        """Yields an event that is set when one of the namespaces changes. The subscriber must clear it before it reads.
        Subscribers are counted per API key."""
        changed = asyncio.Event()
        for namespace in namespaces:
            self._events_by_namespace.setdefault(namespace, set()).add(changed)
        self._subscribers[key_id] += 1
        try:
            yield changed
        finally:
            self._subscribers[key_id] -= 1
            self._subscribers += Counter()  # removes keys with a count of zero
            for namespace in namespaces:
                self._forget(namespace, changed)

    def _forget(self, namespace: str, changed: asyncio.Event) -> None:
        waiting = self._events_by_namespace[namespace]
        waiting.discard(changed)
        if not waiting:
            del self._events_by_namespace[namespace]

    def notify(self, namespace: str) -> None:
        for changed in self._events_by_namespace.get(namespace, ()):
            changed.set()

    def notify_all(self) -> None:
        """Wakes all subscribers: notifications may be lost, or the process stops."""
        for namespace in self._events_by_namespace:
            self.notify(namespace)

    def close(self) -> None:
        """Ends all streams because the process stops."""
        self.closed = True
        self.notify_all()
