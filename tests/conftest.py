"""Fixtures for all tests: one embedded stack a session, started when the first test asks for it."""

import asyncio
import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

from deploy.embedded.stack import EmbeddedStack
from streams.delivery.fenced_futures import leave_out_fenced_futures

# Machines that are busy with something else must not fail a test. Every run tries the same examples;
# `pytest --hypothesis-profile=search` tries others.
settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("unhurried", settings.get_profile("search"), derandomize=True)
settings.load_profile("unhurried")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of one id are one test to pytest-xdist, which would leave out all but one of them."""
    twice = [name for name, count in Counter(item.nodeid for item in items).items() if count > 1]
    if twice:
        raise pytest.UsageError(f"several tests have the same id: {', '.join(twice)}")


class OneStackForContracts(LoadFileScheduling):
    """Files go to processes one by one, but contract tests to one together: their files last less long than a stack's start."""

    def _split_scope(self, nodeid: str) -> str:
        return "tests/contract" if nodeid.startswith("tests/contract/") else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    return OneStackForContracts(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.fixture(scope="session", autouse=True)
def no_complaints_of_fenced_producers() -> None:
    leave_out_fenced_futures()


@pytest.fixture(scope="session")
def cache_dir() -> Path:
    """Where downloads are kept between test runs: `$MEMSTREAM_CACHE_DIR`, else below the home directory."""
    return Path(os.environ.get("MEMSTREAM_CACHE_DIR", Path.home() / ".cache" / "memstream"))


QDRANT = "MEMSTREAM_TEST_QDRANT_URL"


class BesideQdrant(EmbeddedStack):
    """With a Qdrant that somebody runs, instead of the embedded vector server."""

    @property
    def qdrant_url(self) -> str:
        return os.environ[QDRANT]


@pytest.fixture(scope="session")
def embedded_stack(tmp_path_factory: pytest.TempPathFactory, cache_dir: Path) -> Iterator[EmbeddedStack]:
    """Kafka, PostgreSQL and the vector server; tests share it, so each uses names of its own."""
    kind = BesideQdrant if os.environ.get(QDRANT) else EmbeddedStack
    with started(kind(tmp_path_factory.mktemp("stack"), cache_dir)) as stack:
        yield stack


@pytest.fixture(scope="session")
def breakable(tmp_path_factory: pytest.TempPathFactory, cache_dir: Path) -> Iterator[EmbeddedStack]:
    """Another one, whose parts tests may kill and have to start again."""
    with started(EmbeddedStack(tmp_path_factory.mktemp("breakable"), cache_dir)) as stack:
        yield stack


@contextmanager
def started(stack: EmbeddedStack) -> Iterator[EmbeddedStack]:
    with ThreadPoolExecutor(1) as thread:  # an async fixture may ask for the stack from within a running loop
        thread.submit(asyncio.run, stack.start()).result()
        try:
            yield stack
        finally:
            thread.submit(asyncio.run, stack.stop()).result()
