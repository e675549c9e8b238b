"""Commits of the consumer thread while partitions are revoked."""

from typing import Any

from aiokafka.util import commit_structure_validate
from faust.types import TP

from streams.delivery.consumer_thread import FencedConsumerThread

KEPT, REVOKED = TP("messages", 0), TP("messages", 1)


class CommittingThread(FencedConsumerThread):
    """A thread that holds `assigned`, with a consumer that validates commits as aiokafka does and keeps them."""

    def __init__(self, *assigned: TP) -> None:
        self.assigned = set(assigned)
        self.tp_last_committed_at = {}
        self.committed: list[dict[TP, int]] = []
        self.crashes: list[BaseException] = []

    def assignment(self) -> set[TP]:
        return self.assigned

    def _ensure_consumer(self) -> Any:
        return self

    async def commit(self, offsets: Any) -> None:
        self.committed.append({tp: held.offset for tp, held in commit_structure_validate(offsets).items()})

    async def crash(self, reason: BaseException) -> None:
        self.crashes.append(reason)


async def test_a_commit_whose_partitions_were_all_revoked_is_left_out_and_the_thread_goes_on() -> None:
    thread = CommittingThread(KEPT)
    assert await thread._commit({REVOKED: 7}) is False
    assert (thread.committed, thread.crashes) == ([], [])


async def test_a_commit_covers_the_partitions_that_are_still_held() -> None:
    thread = CommittingThread(KEPT)
    assert await thread._commit({KEPT: 5, REVOKED: 7}) is True
    assert thread.committed == [{KEPT: 5}]
