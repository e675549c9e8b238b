"""`memstream demo`: starts everything, publishes the samples, waits until they are processed, and prints the report."""

import asyncio
import shutil
import time
from collections.abc import Iterable
from datetime import UTC, datetime

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from deploy.cli import terminal
from deploy.cli.publish import Line, publish, read_lines
from deploy.demo.contexts import projected_windows, pruned_contexts
from deploy.demo.questions import answers
from deploy.demo.report import ModelCalls, Report, as_json, gather, show
from deploy.demo.samples import DAYS, POLICIES, expected
from deploy.embedded.stack import Ports
from deploy.runtime.dev import running_stack, running_worker
from deploy.settings import Settings
from deploy.wiring import connections, models
from deploy.wiring.follow import follow
from schemas.conversations.windows import WindowState
from schemas.counts import counted
from schemas.errors import MemstreamError, Misconfigured
from schemas.kafka import topics
from sinks.archive.progress import ConversationProgress, count_pending_outbox, progress_of, unsearchable
from sinks.budgets.usage import UsageRecords
from sinks.postgres.connection import Pool

PROCESSED_WITHIN_S = 120.0
PROJECTED_WITHIN_S = 30.0
MARK = ".memstream-demo"


class DemoTimeout(MemstreamError):
    """The samples were not processed in time."""


async def run_demo(settings: Settings, *, in_json: bool) -> int:
    """Runs the demo. Its data stays in `demo` under the data directory, for `memstream dev --data-dir`. Returns 0 on
    success."""
    started_at = time.monotonic()
    await require_answers(settings)
    demo = demo_settings(settings)
    with progress_bars(quiet=in_json) as bars:
        starting = bars.add_task("starting Kafka, PostgreSQL, Qdrant", total=None)

        def started(what: str, done: int, total: int) -> None:
            bars.update(starting, description=what, completed=done, total=total)

        async with running_stack(demo, Ports(), started) as reached:
            bars.update(starting, description="starting a worker")
            async with running_worker(reached):
                bars.update(starting, description="running", completed=1, total=1)
                ready_s = time.monotonic() - started_at
                report = await play(reached, bars)
    report.start_s, report.total_s = round(ready_s, 1), round(time.monotonic() - started_at, 1)
    if in_json:
        terminal.print_json(as_json(report))
    else:
        show(report, demo.data_dir)
    return 0


async def require_answers(settings: Settings) -> None:
    """Checks the provider before anything starts. Raises Misconfigured if it cannot answer."""
    provider = models.provider(settings)
    trouble = await provider.unavailable_reason()
    await provider.close()
    if trouble:
        raise Misconfigured(trouble)


def demo_settings(settings: Settings) -> Settings:
    """The user's settings with an empty data directory for the demo, and the samples' policies."""
    data_dir = settings.data_dir.absolute() / "demo"
    if (data_dir / MARK).exists():
        shutil.rmtree(data_dir)
    data_dir.mkdir(parents=True, exist_ok=True)
    (data_dir / MARK).touch()
    return settings.model_copy(
        update={
            "data_dir": data_dir,
            "policies_file": settings.policies_file or POLICIES,
            "start_from": "earliest",
            "session_timeout_s": 6.0,
            "heartbeat_interval_s": 1.0,
            "topic_prefix": "",
        }
    )


async def play(settings: Settings, bars: Progress) -> Report:
    """Publishes the events of each day once those of the day before are processed."""
    async with connections.postgres(settings, max_size=2) as pool:
        ends: dict[str, datetime] = {}
        states: dict[str, ConversationProgress] = {}
        said: list[Line] = []
        for number, path in enumerate(DAYS, start=1):
            lines = read_lines(path)
            said += lines
            ends |= await publish_day(settings, number, lines, bars)
            states = await wait_until_processed(pool, number, said, bars)
        await wait_until_published(pool)
        await wait_until_searchable(pool, states)
        windows = await wait_until_projected(pool, states)
        events = [record async for record in follow(settings, topics.EVENTS, from_beginning=True, until_end=True)]
        dead_letters = [
            record async for record in follow(settings, topics.DEAD_LETTERS, from_beginning=True, until_end=True)
        ]
        report = await gather(pool, events, dead_letters, ends, states)
        report.contexts = await pruned_contexts(pool, windows)
        report.answers = await answers(settings, pool)
        report.model_calls = await model_calls(pool)
        return report


async def model_calls(pool: Pool) -> list[ModelCalls]:
    """The usage of each model; the offline provider has none."""
    totals = await UsageRecords(pool).totals(datetime.fromtimestamp(0, UTC))
    return [ModelCalls.of(total) for total in totals]


async def publish_day(settings: Settings, number: int, lines: list[Line], bars: Progress) -> dict[str, datetime]:
    """Publishes a day's lines; returns when each conversation's end was confirmed (Unix seconds)."""
    bar = bars.add_task(f"publishing day {number}", total=len(lines))
    ends: dict[str, datetime] = {}
    async with connections.kafka(settings) as publisher:
        async for confirmed in publish(lines, publisher):
            bars.advance(bar, len(confirmed))
            ends |= {line.key: datetime.now(UTC) for line in confirmed if line.topic == topics.ENDED}
    return ends


async def wait_until_processed(
    pool: Pool, number: int, said: list[Line], bars: Progress
) -> dict[str, ConversationProgress]:
    """Waits until every message of every ended conversation is archived and in a completed extraction."""
    expected_messages = expected(said).messages
    bar = bars.add_task(f"remembering day {number}", total=len(expected_messages))
    deadline = time.monotonic() + PROCESSED_WITHIN_S
    while True:
        states = await progress_of(pool, expected_messages)
        done = [
            name for name, ids in expected_messages.items() if name in states and is_complete(states[name], len(ids))
        ]
        bars.update(bar, completed=len(done))
        if len(done) == len(expected_messages):
            return states
        if time.monotonic() > deadline:
            waiting = sorted(set(expected_messages) - set(done))
            raise DemoTimeout(
                f"not processed within {PROCESSED_WITHIN_S:g} s: {', '.join(waiting)}; see worker.log in the data directory"
            )
        await asyncio.sleep(0.1)


def is_complete(state: ConversationProgress, messages: int) -> bool:
    return state.archived >= messages and state.extracted >= messages


async def wait_until_published(pool: Pool) -> None:
    """Waits until every decision is published."""
    deadline = time.monotonic() + 30.0
    while await count_pending_outbox(pool):
        if time.monotonic() > deadline:
            raise DemoTimeout("the outbox was not published within 30 s; see worker.log in the data directory")
        await asyncio.sleep(0.1)


async def wait_until_searchable(pool: Pool, conversations: Iterable[str]) -> None:
    """Waits until every message can be searched."""
    deadline = time.monotonic() + 30.0
    while missing := await unsearchable(pool, conversations):
        if time.monotonic() > deadline:
            raise DemoTimeout(
                f"{counted(missing, 'messages')} cannot be searched after 30 s; see worker.log in the data directory"
            )
        await asyncio.sleep(0.1)


async def wait_until_projected(pool: Pool, states: dict[str, ConversationProgress]) -> list[WindowState]:
    """Waits until the projected windows of the conversations are up to date, and returns them."""
    deadline = time.monotonic() + PROJECTED_WITHIN_S
    while True:
        windows = await projected_windows(pool, states)
        if len(windows) == len(states):
            return windows
        if time.monotonic() > deadline:
            waiting = sorted(set(states) - {window.scope.conversation_id for window in windows})
            raise DemoTimeout(
                f"windows not projected within {PROJECTED_WITHIN_S:g} s: {', '.join(waiting)}; "
                "see worker.log in the data directory"
            )
        await asyncio.sleep(0.1)


def progress_bars(*, quiet: bool) -> Progress:
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description:<36}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=terminal.console,
        disable=quiet,
    )
