"""A stage that idles too long stops its worker; a stopping stage leaves its group."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from unittest.mock import Mock

import pytest
from faust.types import TP

from streams.apps import stage_app
from streams.delivery.app import FIRST_EPOCH_WITHIN_S, MIN_IDLE_S, StageApp
from streams.delivery.recovery import GIVE_UP_AFTER_S
from streams.kafka.cluster import ClusterSettings
from streams.kafka.topics import TopicSettings


@pytest.fixture
def app(tmp_path: Path) -> StageApp:
    return stage_app("archive", ClusterSettings(bootstrap_servers="127.0.0.1:9", datadir=tmp_path), TopicSettings(), {})


def test_check_fence_raises_for_a_stage_that_is_never_assigned_partitions(app: StageApp):
    app.check_fence(0.0)
    app.check_fence(FIRST_EPOCH_WITHIN_S)
    with pytest.raises(RuntimeError, match="was given no partitions"):
        app.check_fence(FIRST_EPOCH_WITHIN_S + 1.0)


def test_check_fence_raises_for_a_fence_that_stays_shut_without_a_rebalance(app: StageApp):
    app.fence.open()
    app.fence.shut()
    app.check_fence(0.0)
    app.check_fence(MIN_IDLE_S)
    with pytest.raises(RuntimeError, match="was not given new ones"):
        app.check_fence(MIN_IDLE_S + 1.0)


def test_check_fence_never_raises_for_an_open_fence(app: StageApp):
    app.fence.open()
    for now in (0.0, 1e6, 2e6):
        app.check_fence(now)


def test_the_idle_time_restarts_after_each_epoch(app: StageApp):
    app.check_fence(0.0)
    app.fence.open()
    app.check_fence(50.0)
    app.fence.shut()
    app.check_fence(100.0)
    app.check_fence(100.0 + MIN_IDLE_S)


def test_a_rebalance_may_take_longer_but_not_for_ever(app: StageApp):
    app.rebalancing = True
    app.check_fence(0.0)
    app.check_fence(2 * GIVE_UP_AFTER_S)
    with pytest.raises(RuntimeError, match="has started no epoch"):
        app.check_fence(2 * GIVE_UP_AFTER_S + 1.0)


@pytest.mark.parametrize("report", [StageApp._on_partitions_revoked, StageApp._on_partitions_assigned])
async def test_a_rebalance_while_the_stage_stops_closes_no_connection(
    app: StageApp, report: Callable[[StageApp, set[TP]], Awaitable[None]]
):
    app._stopped.set()
    app._consumer = Mock()
    await report(app, {TP("messages", 0)})
    assert app._consumer.mock_calls == []
