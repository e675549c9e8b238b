"""`memstream backfill` prints its progress every few seconds."""

import pytest

from deploy.cli.backfill import REPORT_EVERY_S, ProgressPrinter
from sinks.passages.backfill import ConversationCounts


def test_progress_is_printed_on_stderr_at_most_every_few_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    later = 100.0 + REPORT_EVERY_S
    times = iter((100.0, 101.0, later, later, later + 1.0))  # two of the report: when it is due, and when it is made
    printer = ProgressPrinter(lambda: next(times))
    for _ in range(3):
        printer(ConversationCounts(conversations=1_200, ahead=150), 3_400)
    printed = capsys.readouterr()
    assert printed.err == "memstream: 1,050 of 1,200 conversations, 3,400 new passages\n"
    assert printed.out == ""
