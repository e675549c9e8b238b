"""The progress of an import is reported while its lines arrive and while the curator applies them."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any

import pytest

from agents.api.http.line_splitter import Line
from agents.api.memories import imports
from agents.api.memories.import_progress import progress_steps
from agents.api.memories.imports import Import, ImportProgress, ImportReport
from schemas.memories.commands import Command
from tests.api import NOON


class Curation:
    """Settles `per_look` more commands at each look, in their order."""

    def __init__(self, per_look: int) -> None:
        self.sent: list[str] = []
        self.done = 0
        self.per_look = per_look

    async def send(self, commands: Sequence[Command]) -> None:
        await asyncio.sleep(1.5)
        self.sent += [command.command_id for command in commands]

    async def settled(self, namespace: str, command_ids: Sequence[str]) -> set[str]:
        await asyncio.sleep(0)
        assert namespace == "app/ada"
        self.done = min(len(self.sent), self.done + self.per_look)
        return set(self.sent[: self.done]) & set(command_ids)

    def run(self) -> Import:
        return Import("app/ada", "one", "ada", lambda: NOON, self.send)


async def lines(number: int) -> AsyncIterator[Line]:
    for at in range(1, number + 1):
        yield Line(at, b'{"text": "User owns thing %d"}' % at)


@pytest.fixture(autouse=True)
def ten_at_once(monkeypatch: Any) -> None:
    monkeypatch.setattr(imports, "BATCH_LINES", 10)


async def steps_of(curation: Curation, number: int, **settings: Any) -> list[ImportProgress | ImportReport]:
    async with aclosing(progress_steps(curation.run(), lines(number), curation.settled, **settings)) as steps:
        return [step async for step in steps]


async def test_import_progress_is_reported_until_the_curator_has_processed_the_last_command() -> None:
    *steps, report = await steps_of(Curation(per_look=4), 35)
    assert isinstance(report, ImportReport)
    progress = [(step.accepted, step.carried_out) for step in steps if isinstance(step, ImportProgress)]
    assert progress[0][0] < 35, "it begins while lines come in"
    assert progress[-1] == (35, 35)
    assert progress == sorted(progress)
    assert {done for _, done in progress} <= {0, 10, 20, 30, 35}


async def test_an_import_ends_with_its_report_after_the_curator_makes_no_progress_for_the_stall_timeout() -> None:
    begun = asyncio.get_running_loop().time()
    *steps, report = await steps_of(Curation(per_look=0), 20, stall_timeout_s=30.0)
    assert isinstance(report, ImportReport) and report.accepted == 20
    assert isinstance(steps[-1], ImportProgress) and steps[-1].carried_out == 0
    assert 30 <= asyncio.get_running_loop().time() - begun < 40


async def test_import_progress_stops_after_the_last_line_is_sent_if_the_client_disconnected() -> None:
    async def gone() -> bool:
        return True

    curation = Curation(per_look=0)
    steps = await steps_of(curation, 20, is_abandoned=gone)
    assert len(curation.sent) == 20
    assert not isinstance(steps[-1], ImportReport)


async def test_closing_the_import_progress_stream_stops_sending_commands() -> None:
    curation = Curation(per_look=4)
    async with aclosing(progress_steps(curation.run(), lines(100), curation.settled)) as steps:
        await anext(steps)
    await asyncio.sleep(10)
    assert len(curation.sent) < 100
