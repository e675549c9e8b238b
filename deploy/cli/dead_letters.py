"""`memstream dead-letters`: lists, shows, replays and discards records that could not be processed."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Annotated, Any

import typer

from agents.dead_letters.dead_letter_queue import ALL_DEAD_LETTERS, DeadLetterQueue, DeadLetterStatus
from agents.dead_letters.reader import DeadLetter, DeadLetterFilter, Outcome, parse_places
from deploy.cli import terminal
from deploy.cli.command import Json, WrongUsage, command, several_commands
from deploy.cli.time_options import parse_time
from deploy.settings import load
from deploy.wiring import connections
from schemas.errors import Misconfigured, Rejected

COLUMNS = ("letter", "at", "stage", "reason", "is", "detail")

cli = several_commands("List, show, replay or discard records that memstream could not process.")

Places = Annotated[
    list[str] | None,
    typer.Argument(help="partition:offset as `list` shows it, or partition:first-last.", show_default=False),
]
Reason = Annotated[str | None, typer.Option(help="Only letters with this reason.")]
Stage = Annotated[str | None, typer.Option(help="Only letters of this stage.")]
Since = Annotated[
    datetime | None,
    typer.Option(parser=parse_time, metavar="TIME", help="Only letters since this time: 24h, 7d, 2026-11-22T14:00."),
]
Until = Annotated[
    datetime | None, typer.Option(parser=parse_time, metavar="TIME", help="Only letters before this time.")
]
Again = Annotated[bool, typer.Option("--again", help="Include letters that were already replayed or discarded.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the selected letters without settling them.")]


@cli.command("list")
@command
async def list_letters(
    places: Places = None,
    reason: Reason = None,
    stage: Stage = None,
    since: Since = None,
    until: Until = None,
    everything: Annotated[bool, typer.Option("--all", help="Include letters that were replayed or discarded.")] = False,
    json: Json = False,
) -> None:
    """List dead letters, oldest first, without their contents."""
    selection = letter_filter(places, reason, stage, since, until)
    async with opened_queue() as queue:
        found = await queue.statuses(selection)
    shown = [each for each in found if everything or each.outcome is None]
    none = "no dead letter matches" if found or selection != ALL_DEAD_LETTERS else "there are no dead letters"
    terminal.show_list(shown, json, "dead letters", COLUMNS, row, fields=summary, wide="detail", empty_text=none)


@cli.command()
@command
async def show(place: Annotated[str, typer.Argument(help="partition:offset.")], json: Json = False) -> None:
    """Show a dead letter with its contents. These may include users' text."""
    selection = letter_filter([place])
    async with opened_queue() as queue:
        (statuses,) = await selected_letters(queue, selection, again=True)
        async for letter, record in queue.contents([statuses.letter]):
            whole = summary(statuses) | {
                "key": text(record.key),
                "headers": {name: text(value) for name, value in record.headers if not name.startswith("memstream-")},
                "value": text(record.value),
            }
            if json:
                terminal.print_json(whole)
            else:
                for name, value in whole.items():
                    terminal.print_line(f"{name:13} {value}")
            assert letter is statuses.letter


@cli.command()
@command
async def replay(
    places: Places = None,
    reason: Reason = None,
    stage: Stage = None,
    since: Since = None,
    until: Until = None,
    again: Again = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> int:
    """Publish dead letters again, unchanged and to their source partition."""
    return await settle("replayed", required_filter(places, reason, stage, since, until), again, dry_run, json)


@cli.command()
@command
async def discard(
    places: Places = None,
    reason: Reason = None,
    stage: Stage = None,
    since: Since = None,
    until: Until = None,
    again: Again = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> int:
    """Mark dead letters as discarded. The topic keeps them until its retention ends."""
    return await settle("discarded", required_filter(places, reason, stage, since, until), again, dry_run, json)


async def settle(how: Outcome, selection: DeadLetterFilter, again: bool, dry_run: bool, json: bool) -> int:
    """Replays or discards dead letters. Prints failures, continues with the others, and returns 1 if any failed."""
    failed = 0
    async with opened_queue() as queue:
        dead_letters = [statuses.letter for statuses in await selected_letters(queue, selection, again)]
        if dry_run:
            return preview(queue, dead_letters, how, json)
        async for letter, record in queue.contents(dead_letters):
            try:
                await queue.settle(letter, record, how)
            except Rejected as rejected:
                failed += 1
                terminal.print_error(rejected.detail)
                continue
            print_outcome(letter, how, json)
    return 1 if failed else 0


def preview(queue: DeadLetterQueue, dead_letters: Sequence[DeadLetter], how: Outcome, json: bool) -> int:
    """Prints what `settle` would do, and returns 1 if it would refuse a letter."""
    refused = 0
    for letter in dead_letters:
        try:
            queue.check(letter, how)
        except Rejected as rejected:
            refused += 1
            terminal.print_error(rejected.detail)
            continue
        print_outcome(letter, f"would be {how}", json)
    return 1 if refused else 0


@asynccontextmanager
async def opened_queue() -> AsyncIterator[DeadLetterQueue]:
    """Opens the dead-letter queue of this deployment. Raises Retryable."""
    settings = load()
    async with connections.kafka(settings) as publisher:
        yield connections.dead_letter_queue(settings, publisher)


async def selected_letters(queue: DeadLetterQueue, selection: DeadLetterFilter, again: bool) -> list[DeadLetterStatus]:
    """Returns the selected dead letters. Raises Misconfigured if there are none, and Retryable."""
    found = await queue.statuses(selection)
    remaining = [each for each in found if again or each.outcome is None]
    if not remaining:
        settled_hint = f"; {len(found)} are already replayed or discarded: add --again to include them" if found else ""
        raise Misconfigured(f"no dead letter matches{settled_hint}: `memstream dead-letters list --all` shows all")
    return remaining


def letter_filter(
    positions: Sequence[str] | None,
    reason: str | None = None,
    stage: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> DeadLetterFilter:
    try:
        return DeadLetterFilter(
            places=parse_places(positions or ()), reason=reason, stage=stage, since=since, until=until
        )
    except ValueError as exc:
        raise WrongUsage(str(exc)) from exc


def required_filter(
    positions: Sequence[str] | None,
    reason: str | None,
    stage: str | None,
    since: datetime | None,
    until: datetime | None,
) -> DeadLetterFilter:
    """Returns the selection. Raises WrongUsage without any option, so that a bare command does not select all dead
    letters."""
    if not (positions or reason or stage or since or until):
        raise WrongUsage("select dead letters by position, --reason, --stage, --since or --until")
    return letter_filter(positions, reason, stage, since, until)


def print_outcome(letter: DeadLetter, how: str, json: bool) -> None:
    if json:
        terminal.print_json({"letter": letter.place, "is": how, "source": source(letter)})
    else:
        terminal.print_line(f"{letter.place} {how}: {letter.reason}, from {source(letter)}")


def row(status: DeadLetterStatus) -> tuple[str, ...]:
    letter = status.letter
    at, outcome = f"{letter.at:%Y-%m-%d %H:%M}", status.outcome or "waits"
    return letter.place, at, letter.stage, letter.reason, outcome, letter.detail


def summary(status: DeadLetterStatus) -> dict[str, Any]:
    letter = status.letter
    return {
        "letter": letter.place,
        "at": letter.at,
        "stage": letter.stage,
        "reason": letter.reason,
        "detail": letter.detail,
        "source": source(letter),
        "is": status.outcome or "waits",
        "bytes": letter.bytes,
        "by_reference": letter.by_reference,
    }


def source(letter: DeadLetter) -> str:
    return str(letter.source or "no topic")


def text(value: bytes | None) -> str | None:
    """Decodes UTF-8; other bytes are escaped."""
    return None if value is None else value.decode("utf-8", "backslashreplace")
