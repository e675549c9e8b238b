"""Wakes the followers of a namespace when it has a new event, so that they need not poll PostgreSQL."""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager


class ChangeNotifier:
    """One a process. It says that there is something new, never what: a ring too many does no harm, and none queues up."""

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
        """An event that is set by every ring in one of the namespaces; the listener clears it before it looks. Listeners are
        counted by the key that let them in."""
        rung = asyncio.Event()
        for namespace in namespaces:
            self._listening.setdefault(namespace, set()).add(rung)
        self._listeners[key_id] += 1
        try:
            yield rung
        finally:
            self._listeners[key_id] -= 1
            self._listeners += Counter()  # forgets the keys of which none is left
            for namespace in namespaces:
                self._forget(namespace, rung)

    def _forget(self, namespace: str, rung: asyncio.Event) -> None:
        waiting = self._listening[namespace]
        waiting.discard(rung)
        if not waiting:
            del self._listening[namespace]

    def notify(self, namespace: str) -> None:
        for rung in self._listening.get(namespace, ()):
            rung.set()

    def notify_all(self) -> None:
        """Something may have been missed, or everybody is to go."""
        for namespace in self._listening:
            self.notify(namespace)

    def close(self) -> None:
        """Sends everybody home: the process is about to stop, and streams never end by themselves."""
        self.closed = True
        self.notify_all()
