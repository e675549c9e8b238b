"""Calibrations in memory and on PostgreSQL learn the same."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from typing import TypeAlias

import pytest

from schemas.conversations.windows import Calibration
from sinks.extraction.calibrations import Calibrations
from sinks.postgres.connection import connect
from tests.cases.hostile_text import HARD_TO_STORE
from tests.fakes.calibrations import FakeCalibrations

AnyCalibrations: TypeAlias = Calibrations | FakeCalibrations


@pytest.fixture(params=["fake", "postgres"])
async def calibrations(request: pytest.FixtureRequest, dsn: str) -> AsyncIterator[AnyCalibrations]:
    if request.param == "fake":
        yield FakeCalibrations()
        return
    pool = await connect(dsn, max_size=4)
    yield Calibrations(pool)
    await pool.close()


def again(known: Calibration) -> Calibration:
    return Calibration(known.mean + 0.5, known.observed + 1)


async def test_the_first_update_of_an_unknown_model_starts_from_an_empty_calibration(
    calibrations: AnyCalibrations, name: str
) -> None:
    assert await calibrations.learn(name, again) == Calibration(0.5, 1)
    assert await calibrations.learn(name, again) == Calibration(1.0, 2)
    assert (await calibrations.all())[name] == Calibration(1.0, 2)


async def test_each_model_has_its_own_calibration(calibrations: AnyCalibrations, name: str) -> None:
    for model in (name, name, f"{name} 2"):
        await calibrations.learn(model, again)
    known = await calibrations.all()
    assert (known[name], known[f"{name} 2"]) == (Calibration(1.0, 2), Calibration(0.5, 1))


async def test_an_update_without_a_change_stores_no_calibration_for_an_unknown_model(
    calibrations: AnyCalibrations, name: str
) -> None:
    assert await calibrations.learn(name, lambda known: known) == Calibration()
    assert name not in await calibrations.all()


async def test_a_failed_update_leaves_the_calibration_unchanged(calibrations: AnyCalibrations, name: str) -> None:
    await calibrations.learn(name, again)
    with pytest.raises(ZeroDivisionError):
        await calibrations.learn(name, lambda known: Calibration(known.mean / 0, 1))
    assert (await calibrations.all())[name] == Calibration(0.5, 1)


@pytest.mark.parametrize("mean", [0.1 + 0.2, 5e-324, 1.7976931348623157e308, 1 / 3])
async def test_a_mean_is_stored_without_loss_of_precision(
    calibrations: AnyCalibrations, name: str, mean: float
) -> None:
    await calibrations.learn(name, lambda _: Calibration(mean, 2**62))
    assert (await calibrations.all())[name] == Calibration(mean, 2**62)


@pytest.mark.parametrize("text", HARD_TO_STORE)
async def test_any_text_is_accepted_as_model_name(calibrations: AnyCalibrations, name: str, text: str) -> None:
    for _ in range(2):
        await calibrations.learn(name + text, again)
    assert (await calibrations.all())[name + text.replace("\x00", "\ufffd")] == Calibration(1.0, 2)


async def test_concurrent_updates_of_calibrations_are_all_applied(calibrations: AnyCalibrations, name: str) -> None:
    models = itertools.cycle([name, f"{name} 2", f"{name} 3"])
    await asyncio.gather(*(calibrations.learn(next(models), again) for _ in range(30)))
    known = await calibrations.all()
    assert {known[model] for model in (name, f"{name} 2", f"{name} 3")} == {Calibration(5.0, 10)}
