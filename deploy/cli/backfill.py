"""`memstream backfill`: indexes archived messages for passage search."""

import time
from collections.abc import Callable

from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.settings import load
from deploy.wiring import connections, passages, vector_index
from deploy.wiring.policy_store import policies_in_effect, stored_policies
from schemas.counts import counted
from sinks.passages.backfill import ConversationCounts

REPORT_EVERY_S = 5.0

cli = one_command()


@cli.command()
@command
async def backfill(json: Json = False) -> None:
    """Index archived messages that have no passages yet. Resumes if interrupted. Safe while workers run."""
    settings = load()
    await vector_index.check_local_only_by_topic(settings)
    policies = policies_in_effect(settings, await stored_policies(settings))
    async with (
        connections.postgres(settings, max_size=4) as pool,
        vector_index.embedders(settings) as embedders,
    ):
        counts = await passages.backfill(settings, pool, await embedders.of_passages(), policies, ProgressPrinter())
    if json:
        terminal.print_json(counts)
    else:
        terminal.print_line(
            f"{counted(counts.conversations, 'conversations')}, {counted(counts.passages, 'new passages')}"
        )


class ProgressPrinter:
    """Prints progress on stderr every few seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._at = clock()

    def __call__(self, counts: ConversationCounts, stored: int) -> None:
        if self._clock() - self._at >= REPORT_EVERY_S:
            self._at = self._clock()
            done = counts.conversations - counts.ahead
            terminal.print_error(
                f"{done:,} of {counted(counts.conversations, 'conversations')}, {counted(stored, 'new passages')}"
            )
