"""`memstream mcp` ends with its client, or when a policy forbids its setup."""

import asyncio

import pytest

from deploy.cli import mcp
from deploy.wiring.periodic import PeriodicTasks
from schemas.errors import Misconfigured
from tests.fakes.clock import VirtualLoop


async def forbidden() -> None:
    raise Misconfigured("a policy is local_only")


async def left() -> None:
    await asyncio.sleep(3 * mcp.CHECK_INTERVAL_S)


def test_the_mcp_server_ends_when_a_policy_change_forbids_its_setup(monkeypatch: pytest.MonkeyPatch):
    ending: list[float] = []
    monkeypatch.setattr(mcp, "exit_after", ending.append)

    async def served() -> None:
        chores, staying = PeriodicTasks(), asyncio.Event()
        chores.add("policies", 0.2, forbidden)
        with pytest.raises(Misconfigured, match="local_only"):
            await mcp.serve_until_disconnect(staying.wait(), chores)  # type: ignore[arg-type]

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(served())
    assert ending == [mcp.END_WITHIN_S]


def test_the_mcp_server_ends_when_its_client_disconnects():
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(mcp.serve_until_disconnect(left(), PeriodicTasks()))
