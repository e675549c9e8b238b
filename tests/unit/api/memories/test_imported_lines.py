"""Lines of an import: an invalid one is reported with its number, and the others are sent."""

from collections.abc import AsyncIterator, Sequence

from agents.api.http.line_splitter import Line
from agents.api.memories.imports import Import
from schemas.memories.commands import Command
from tests.api import NOON

BACKWARDS = (
    b'{"text": "User rents a boat", "valid_from": "2026-05-01T00:00:00Z", "valid_until": "2026-04-01T00:00:00Z"}'
)
ONE_MOMENT = (
    b'{"text": "User rents a boat", "valid_from": "2026-05-01T00:00:00Z", "valid_until": "2026-05-01T00:00:00Z"}'
)


async def test_a_line_that_ends_before_it_begins_is_rejected_with_both_times_and_the_others_are_sent() -> None:
    sent: list[Command] = []

    async def send(commands: Sequence[Command]) -> None:
        sent.extend(commands)

    async def lines() -> AsyncIterator[Line]:
        for number, data in enumerate((BACKWARDS, ONE_MOMENT), 1):
            yield Line(number, data)

    report = await Import("app/ada", "one", "ada", lambda: NOON, send).run(lines())
    assert [each.line for each in report.problems] == [1]
    assert "2026-04-01" in report.problems[0].reason and "is before `valid_from`" in report.problems[0].reason
    assert [each.command_id for each in sent] == ["import:one:2"]
