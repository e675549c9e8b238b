"""A stopping stage takes no new work and finishes the current work within its time."""

import asyncio
import logging
from types import SimpleNamespace
from typing import Any

import pytest

from streams.delivery.app import StageApp


class Consumer:
    def __init__(self, in_flight: int) -> None:
        self.finishing = False
        self.in_flight = in_flight
        self.positions = SimpleNamespace(in_flight=lambda: self.in_flight)


class Checkpointer:
    def __init__(self) -> None:
        self.requested = 0

    def request(self) -> None:
        self.requested += 1


def stage(in_flight: int) -> Any:
    """Returns a StageApp with only the parts that finishing needs."""
    app = StageApp.__new__(StageApp)
    app.conf = SimpleNamespace(id="stub")
    app._consumer, app.checkpointer, app.beside = Consumer(in_flight), None, []
    return app


async def test_finish_returns_when_the_last_batch_is_done():
    app = stage(1)
    finishing = asyncio.create_task(app.finish(60.0))
    await asyncio.sleep(30)
    assert (finishing.done(), app._consumer.finishing) == (False, True)
    app._consumer.in_flight = 0
    await asyncio.sleep(1)
    assert finishing.done()


async def test_finish_waits_for_work_outside_of_batches():
    app, parked = stage(0), [1]
    app.beside.append(lambda: len(parked))
    finishing = asyncio.create_task(app.finish(60.0))
    await asyncio.sleep(30)
    assert not finishing.done()
    parked.clear()
    await asyncio.sleep(1)
    assert finishing.done()


async def test_finish_keeps_requesting_checkpoints():
    app = stage(1)
    app.checkpointer = Checkpointer()
    await app.finish(1.0)
    assert app.checkpointer.requested > 1


async def test_finish_returns_at_its_time_limit_and_logs_the_unfinished_records(caplog: pytest.LogCaptureFixture):
    began = asyncio.get_running_loop().time()
    with caplog.at_level(logging.WARNING):
        await stage(2).finish(10.0)
    assert asyncio.get_running_loop().time() - began == pytest.approx(10.0)
    assert "stub: 2 records unfinished after 10 s" in caplog.text


async def test_finish_returns_for_a_stage_that_never_started():
    app = stage(0)
    app._consumer = None
    await app.finish(10.0)
