"""What is worked on: the ids of conversation and request that every line of the log tells while it lasts."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Final

NOTHING: Final[Mapping[str, str]] = MappingProxyType({})

_about: ContextVar[Mapping[str, str]] = ContextVar("about", default=NOTHING)


@contextmanager
def about(**ids: str | None) -> Iterator[None]:
    """Adds ids for as long as the `with` lasts, in this task and those that it begins; None adds nothing."""
    token = _about.set({**_about.get(), **{name: each for name, each in ids.items() if each}})
    try:
        yield
    finally:
        _about.reset(token)


def ids() -> Mapping[str, str]:
    """The ids of what is worked on here and now, by name."""
    return _about.get()
