"""The current work's ids (conversation, request), which every log line has."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Final

NOTHING: Final[Mapping[str, str]] = MappingProxyType({})

_about: ContextVar[Mapping[str, str]] = ContextVar("about", default=NOTHING)


@contextmanager
def about(**ids: str | None) -> Iterator[None]:
    """Adds ids for the duration of the `with`, in this task and tasks that it starts; None adds nothing."""
    token = _about.set({**_about.get(), **{name: each for name, each in ids.items() if each}})
    try:
        yield
    finally:
        _about.reset(token)


def ids() -> Mapping[str, str]:
    """The ids of the current work, by name."""
    return _about.get()
