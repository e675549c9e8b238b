"""Wakes the subscribers of a namespace when it has a new event, so that streams need not poll PostgreSQL."""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager


class ChangeNotifier:
    """One instance a process. A notification carries no content, so a superfluous one is harmless and none queues up."""

    def __init__(self) -> None:
        self._listening: dict[str, set[asyncio.Event]] = {}
        self.closed = False
        self._listeners: Counter[str] = Counter()

    @property
    def listeners(self) -> int:
        return self._listeners.total()

    def listeners_of(self, key_id: str) -> int:
        return self._listeners[key_id]

    @contextmanager
    def subscribe(self, namespaces: Collection[str], key_id: str) -> Iterator[asyncio.Event]:
        """Yields an event that is set when one of the namespaces changes. The subscriber clears it before it reads. Subscribers
        are counted by their API key."""
        changed = asyncio.Event()
        for namespace in namespaces:
            self._listening.setdefault(namespace, set()).add(changed)
        self._listeners[key_id] += 1
        try:
            yield changed
        finally:
            self._listeners[key_id] -= 1
            self._listeners += Counter()  # forgets the keys of which none is left
            for namespace in namespaces:
                self._forget(namespace, changed)

    def _forget(self, namespace: str, changed: asyncio.Event) -> None:
        waiting = self._listening[namespace]
        waiting.discard(changed)
        if not waiting:
            del self._listening[namespace]

    def notify(self, namespace: str) -> None:
        for changed in self._listening.get(namespace, ()):
            changed.set()

    def notify_all(self) -> None:
        """Wakes all subscribers: notifications may have been lost, or the process stops."""
        for namespace in self._listening:
            self.notify(namespace)

    def close(self) -> None:
        """Ends all streams, because the process is about to stop."""
        self.closed = True
        self.notify_all()
