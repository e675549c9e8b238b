"""Retries and failures of a batch in the stage loop."""

import asyncio

import pytest

from agents.stage.loop import FIRST_PAUSE_S, LONGEST_PAUSE_S, attempt, pause_s
from schemas.errors import Misconfigured, Rejected, Retryable
from tests.fakes.app import StubApp
from tests.fakes.batches import batch_of


@pytest.fixture
def app() -> StubApp:
    app = StubApp()
    app.fence.open()
    return app


def failing(*errors: BaseException):
    """A handler that raises these, then acks."""
    tries = iter(errors)

    async def handle(batch) -> None:
        await asyncio.sleep(0)
        for error in tries:
            raise error
        batch.ack()

    return handle


async def test_a_retryable_failure_is_retried_until_it_succeeds(app):
    batch = batch_of(app.fence, "t", 0, [b"x"])
    await attempt(app, batch, failing(*(Retryable("busy") for _ in range(12))))
    assert batch.acked
    assert app.crashes == []


@pytest.mark.parametrize("error", [ValueError("a bug"), Misconfigured("no key"), Rejected("invalid", "unhandled")])
async def test_any_other_error_stops_the_worker_without_acking_the_batch(app, error):
    batch = batch_of(app.fence, "t", 0, [b"x"])
    await attempt(app, batch, failing(Retryable("busy"), error))
    assert app.crashes == [error]
    assert not batch.acked


async def test_a_batch_of_an_earlier_epoch_is_dropped_unhandled(app):
    batch = batch_of(app.fence, "t", 0, [b"x"])
    app.fence.shut()
    app.fence.open()
    await attempt(app, batch, failing(ValueError("must not be called")))
    assert app.crashes == []
    assert not batch.acked


async def test_a_batch_whose_epoch_closes_during_a_retry_is_not_retried(app):
    batch = batch_of(app.fence, "t", 0, [b"x"])
    calls = []

    async def handle(given) -> None:
        calls.append(given)
        app.fence.close()
        raise Retryable("busy")

    await attempt(app, batch, handle)
    assert len(calls) == 1


async def test_a_cancelled_handler_is_not_treated_as_a_failure(app):
    handling = asyncio.create_task(attempt(app, batch_of(app.fence, "t", 0, [b"x"]), lambda _: asyncio.sleep(60)))
    await asyncio.sleep(0)
    handling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await handling
    assert app.crashes == []


@pytest.mark.parametrize("error", [RuntimeError("broken"), asyncio.CancelledError()])
async def test_after_a_failure_no_further_batch_of_the_epoch_is_handled(app, error):
    """Faust's stream hands over the next batch before the worker has stopped."""
    failed, following = (batch_of(app.fence, "t", first, [b"x"]) for first in (0, 1))
    await attempt(app, failed, failing(error))
    assert len(app.crashes) == 1
    assert not failed.held
    await attempt(app, following, failing(AssertionError("was handled")))
    assert len(app.crashes) == 1


def test_retry_pauses_grow_with_jitter_up_to_a_maximum():
    assert all(FIRST_PAUSE_S <= pause_s(1) <= 2 * FIRST_PAUSE_S for _ in range(50))
    assert all(FIRST_PAUSE_S <= pause_s(5_000 % 1_000) <= LONGEST_PAUSE_S for _ in range(50))
    assert len({pause_s(8) for _ in range(20)}) > 1
