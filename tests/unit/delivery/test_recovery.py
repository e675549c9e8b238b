"""A recovery continues until it opens an epoch or is stopped."""

import asyncio
from types import SimpleNamespace

import pytest

from tests.unit.delivery.scripted_worker import ScriptedRecovery


class Interrupted(ScriptedRecovery):
    """Its first attempts end with these errors; `begun` is set by the one that succeeds."""

    def __init__(self, *errors: BaseException) -> None:
        app = SimpleNamespace(tables=None, loop=asyncio.get_running_loop(), conf=SimpleNamespace(id="stage"))
        super().__init__(app)
        self.errors = list(errors)
        self.begun = asyncio.Event()

    async def _start_epoch(self, generation: int) -> None:
        if self.errors:
            raise self.errors.pop(0)
        self.begun.set()


async def test_an_internal_cancellation_does_not_end_a_recovery():
    recovery = Interrupted(asyncio.CancelledError())
    await recovery._recover(1)
    assert recovery.begun.is_set()


async def test_a_revocation_ends_a_recovery():
    recovery = Interrupted(*[TimeoutError() for _ in range(100)])
    recovering = recovery._recovering = asyncio.create_task(recovery._recover(1))
    await asyncio.sleep(0)  # it waits for its second attempt
    await recovery.interrupt()
    with pytest.raises(asyncio.CancelledError):
        await recovering
    assert not recovery.begun.is_set()


async def test_stopping_the_stage_ends_a_recovery():
    recovery = Interrupted(*[TimeoutError() for _ in range(100)])
    recovery.buffers = {}
    recovering = recovery._recovering = asyncio.create_task(recovery._recover(1))
    await asyncio.sleep(0)  # it waits for its second attempt
    await recovery.on_stop()
    assert recovering.cancelled()
