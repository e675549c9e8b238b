"""A worker that completes erasures."""

from typing import TYPE_CHECKING

import pytest

from tests.integration.erasure.eraser import Worker

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench


@pytest.fixture
def worker(bench: "Bench") -> Worker:
    return Worker(bench)
