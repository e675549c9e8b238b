"""Fixtures of tests that wire models of this process."""

from collections.abc import Iterator
from functools import cache

import pytest

from sinks.classification import cross_encoder


@pytest.fixture(scope="session", autouse=True)
def graphs_are_opened_once() -> Iterator[None]:
    """Makes classifiers share one session for each graph: opening one takes a third of a second of CPU time."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(cross_encoder, "session_of", cache(cross_encoder.session_of))
        yield
