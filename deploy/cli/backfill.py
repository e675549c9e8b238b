"""`memstream backfill`: what the archive has, into the index of what was said."""

import time

from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.cli.policy_store import applying, stored
from deploy.settings import load
from deploy.wiring import connections, passages, vector_index
from sinks.passages.backfill import ConversationCounts

SHOW_EVERY_S = 5.0

cli = one_command()


@cli.command()
@command
async def backfill(json: Json = False) -> None:
    """Index archived messages that have no passages yet. Resumes if interrupted. Safe while workers run."""
    settings = load()
    await vector_index.refuse_by_topic(settings)
    policies = applying(settings, await stored(settings))
    async with (
        connections.postgres(settings, max_size=4) as pool,
        vector_index.embedders(settings) as embedders,
    ):
        done = await passages.backfill(settings, pool, await embedders.of_passages(), policies, Shown())
    if json:
        terminal.print_json(done)
    else:
        terminal.print_line(f"{done.conversations:,} conversations, {done.passages:,} new passages")


class Shown:
    """Progress on stderr, every few seconds."""

    def __init__(self) -> None:
        self._at = time.monotonic()

    def __call__(self, counts: ConversationCounts, stored: int) -> None:
        if time.monotonic() - self._at >= SHOW_EVERY_S:
            self._at = time.monotonic()
            done = counts.conversations - counts.ahead
            terminal.print_error(f"{done:,} of {counts.conversations:,} conversations, {stored:,} new passages")
