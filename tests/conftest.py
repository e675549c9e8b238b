"""Fixtures of all tests: one embedded stack per session, started on demand."""

import asyncio
import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import httpcore2
import pytest
from httpx._transports import default as httpx_transports
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

from deploy.embedded.stack import EmbeddedStack
from deploy.runtime.garbage_collection import collect_seldom
from streams.delivery.fenced_futures import leave_out_fenced_futures
from tests.preparation import administer

# No deadlines, as machines may be busy. Every run has the same examples; `pytest --hypothesis-profile=search` has new ones, and
# `quick`, of `make check`, a fifth of them.
settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("unhurried", settings.get_profile("search"), derandomize=True)
settings.register_profile("quick", settings.get_profile("unhurried"), max_examples=20)
settings.load_profile("unhurried")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Orders heavy files last, so that fast failures come first; of those, the longest come first, so that processes end
    together. Raises if two tests have the same id, as pytest-xdist would run only one of them."""
    twice = [name for name, count in Counter(item.nodeid for item in items).items() if count > 1]
    if twice:
        raise pytest.UsageError(f"several tests have the same id: {', '.join(twice)}")
    heavy = {item.path for item in items if item.get_closest_marker("heavy")}
    items.sort(key=lambda item: (item.path in heavy, rank(item.nodeid)))


# Heavy files that take longer than a minute.
LONGEST = (
    "tests/integration/pipeline/test_group_conversations.py",
    "tests/chaos/",
    "tests/integration/runbook/test_outages.py",
    "tests/integration/cli/test_demo.py",
    "tests/integration/runbook/test_changes.py",
    "tests/integration/security/test_kafka_security.py",
    "tests/integration/pipeline/test_sizes.py",
    "tests/integration/pipeline/test_purge.py",
    "tests/integration/pipeline/test_producers.py",
    "tests/integration/pipeline/test_live_events.py",
    "tests/integration/pipeline/test_understanding.py",
)


def rank(nodeid: str) -> int:
    """The place of a file among heavy ones; equal for all files that are not listed."""
    return next((place for place, start in enumerate(LONGEST) if nodeid.startswith(start)), len(LONGEST))


# Files that run in one process: contract tests take less time than the start of a stack; samples share a deployment that takes
# longer to prepare than to read; tests that break a stack share one.
TOGETHER = {
    "tests/contract/": "contracts",
    "tests/integration/pipeline/samples/": "samples",
    "tests/integration/pipeline/test_kafka_tools.py": "samples",
    "tests/integration/cli/test_cli.py": "samples",
    "tests/integration/cli/test_doctor.py": "samples",
    "tests/integration/cli/test_replay.py": "samples",
    "tests/integration/cli/test_window.py": "samples",
    "tests/chaos/test_outages.py": "breakable",
    "tests/integration/pipeline/test_workers.py": "breakable",
}
# Files with long tests that share nothing: each test goes to a free process.
APART = ("tests/chaos/test_fault_matrix.py", "tests/chaos/test_kill_loop.py", "tests/integration/cli/test_demo.py")


class FilesTogether(LoadFileScheduling):
    """Schedules files, or groups of files, to processes, and the tests of some files one by one."""

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith(APART):
            return nodeid
        found = (group for start, group in TOGETHER.items() if nodeid.startswith(start))
        return next(found, None) or super()._split_scope(nodeid)

    def _reschedule(self, node: WorkerController) -> None:
        """Gives a process more work only when it has one test left. By default, it would get a file while it still has two
        long tests, and other processes would end without work."""
        if not self.workqueue or self._pending_of(self.assigned_work[node]) <= 1:
            super()._reschedule(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    return FilesTogether(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_finish() -> None:
    """Excludes all collected objects from garbage collection, and makes collections rare."""
    collect_seldom()


@pytest.fixture(scope="session", autouse=True)
def no_warnings_of_fenced_producers() -> None:
    leave_out_fenced_futures()


@pytest.fixture(scope="session", autouse=True)
def one_ssl_context() -> Iterator[None]:
    """Makes HTTP clients share one SSL context: reading all certificate authorities takes 20 ms of CPU time per client."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(httpcore2, "default_ssl_context", cache(httpcore2.default_ssl_context))
        patched.setattr(httpx_transports, "create_ssl_context", cache(httpx_transports.create_ssl_context))
        yield


@pytest.fixture(scope="session")
def cache_dir() -> Path:
    """The cache of downloads between test runs: `$MEMSTREAM_CACHE_DIR`, or a directory in the home directory."""
    return Path(os.environ.get("MEMSTREAM_CACHE_DIR", Path.home() / ".cache" / "memstream"))


QDRANT = "MEMSTREAM_TEST_QDRANT_URL"


class StackWithExternalQdrant(EmbeddedStack):
    """A stack that uses an existing Qdrant server instead of the embedded one."""

    @property
    def qdrant_url(self) -> str:
        return os.environ[QDRANT]


@pytest.fixture(scope="session")
def embedded_stack(tmp_path_factory: pytest.TempPathFactory, cache_dir: Path) -> Iterator[EmbeddedStack]:
    """Kafka, PostgreSQL and the vector server, shared by all tests; each test uses its own names."""
    kind = StackWithExternalQdrant if os.environ.get(QDRANT) else EmbeddedStack
    with started(kind(tmp_path_factory.mktemp("stack"), cache_dir)) as stack:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, turn_off_fsync(stack.dsn)).result()
        yield stack


@pytest.fixture(scope="session")
def breakable(tmp_path_factory: pytest.TempPathFactory, cache_dir: Path) -> Iterator[EmbeddedStack]:
    """A further stack, whose parts tests may kill and must restart."""
    with started(EmbeddedStack(tmp_path_factory.mktemp("breakable"), cache_dir)) as stack:
        yield stack


async def turn_off_fsync(dsn: str) -> None:
    """Turns off waiting for the disk, which hundreds of new databases would wait for. No test kills this server."""
    for setting in ("fsync", "full_page_writes", "synchronous_commit"):
        await administer(dsn, f"ALTER SYSTEM SET {setting} = off")
    await administer(dsn, "SELECT pg_reload_conf()")


@contextmanager
def started(stack: EmbeddedStack) -> Iterator[EmbeddedStack]:
    with ThreadPoolExecutor(1) as thread:  # an async fixture may request the stack from within a running loop
        thread.submit(asyncio.run, stack.start()).result()
        try:
            yield stack
        finally:
            thread.submit(asyncio.run, stack.stop()).result()
