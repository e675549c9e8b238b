"""`memstream dead-letters`: what could not be processed, looked at, published again, or put away."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Annotated, Any

import typer

from agents.dead_letters.letters import Letters, LetterStatus
from agents.dead_letters.reader import How, Letter, LetterFilter, places
from deploy.cli import terminal
from deploy.cli.command import Json, command, several_commands
from deploy.cli.moments import moment
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
    typer.Option(parser=moment, metavar="TIME", help="Only letters from then on: 24h, 7d, 2026-11-22T14:00."),
]
Until = Annotated[datetime | None, typer.Option(parser=moment, metavar="TIME", help="Only letters before then.")]
Again = Annotated[bool, typer.Option("--again", help="Also those that were replayed or discarded already.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say which ones it would be, and do nothing.")]


@cli.command("list")
@command
async def list_letters(
    places: Places = None,
    reason: Reason = None,
    stage: Stage = None,
    since: Since = None,
    until: Until = None,
    everything: Annotated[bool, typer.Option("--all", help="Also those that were replayed or discarded.")] = False,
    json: Json = False,
) -> None:
    """List dead letters, oldest first, without their contents."""
    async with opened() as letters:
        found = await letters.statuses(selected(places, reason, stage, since, until))
    shown = [each for each in found if everything or each.became is None]
    none = "no dead letter is like this" if found else "there are no dead letters"
    terminal.show_list(shown, json, "dead letters", COLUMNS, row, fields=summary, wide="detail", none=none)


@cli.command()
@command
async def show(place: Annotated[str, typer.Argument(help="partition:offset.")], json: Json = False) -> None:
    """Show a dead letter with its contents. These may include users' text."""
    async with opened() as letters:
        (standing,) = await chosen(letters, selected([place]), again=True)
        async for letter, record in letters.contents([standing.letter]):
            whole = summary(standing) | {
                "key": text(record.key),
                "headers": {name: text(value) for name, value in record.headers if not name.startswith("memstream-")},
                "value": text(record.value),
            }
            if json:
                terminal.print_json(whole)
            else:
                for name, value in whole.items():
                    terminal.print_line(f"{name:13} {value}")
            assert letter is standing.letter


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
    return await settle("replayed", narrowed(places, reason, stage, since, until), again, dry_run, json)


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
    """Mark dead letters as done. The topic keeps them until its retention ends."""
    return await settle("discarded", narrowed(places, reason, stage, since, until), again, dry_run, json)


async def settle(how: How, wanted: LetterFilter, again: bool, dry_run: bool, json: bool) -> int:
    """1 when one of them could not be: it is named, and the others are done."""
    failed = 0
    async with opened() as letters:
        meant = [standing.letter for standing in await chosen(letters, wanted, again)]
        if dry_run:
            for letter in meant:
                say(letter, f"would be {how}", json)
            return 0
        async for letter, record in letters.contents(meant):
            try:
                await letters.settle(letter, record, how)
            except Rejected as rejected:
                failed += 1
                terminal.print_error(rejected.detail)
                continue
            say(letter, how, json)
    return 1 if failed else 0


@asynccontextmanager
async def opened() -> AsyncIterator[Letters]:
    """The topic of this deployment. Raises Retryable."""
    settings = load()
    async with connections.kafka(settings) as publisher:
        yield connections.letters(settings, publisher)


async def chosen(letters: Letters, wanted: LetterFilter, again: bool) -> list[LetterStatus]:
    """Raises Misconfigured when none is meant, and Retryable."""
    found = await letters.statuses(wanted)
    left = [each for each in found if again or each.became is None]
    if not left:
        done = f"; {len(found)} were replayed or discarded already: --again means them too" if found else ""
        raise Misconfigured(
            f"no dead letter is like this{done}. `memstream dead-letters list` shows those that there are"
        )
    return left


def selected(
    named: Sequence[str] | None,
    reason: str | None = None,
    stage: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> LetterFilter:
    try:
        return LetterFilter(places=places(named or ()), reason=reason, stage=stage, since=since, until=until)
    except ValueError as exc:
        raise Misconfigured(str(exc)) from exc


def narrowed(
    named: Sequence[str] | None, reason: str | None, stage: str | None, since: datetime | None, until: datetime | None
) -> LetterFilter:
    """Nobody means all of them by saying nothing."""
    if not (named or reason or stage or since or until):
        raise Misconfigured("say which ones: places, --reason, --stage, --since or --until")
    return selected(named, reason, stage, since, until)


def say(letter: Letter, how: str, json: bool) -> None:
    if json:
        terminal.print_json({"letter": letter.place, "is": how, "source": source(letter)})
    else:
        terminal.print_line(f"{letter.place} {how}: {letter.reason}, from {source(letter)}")


def row(standing: LetterStatus) -> tuple[str, ...]:
    letter = standing.letter
    at, became = f"{letter.at:%Y-%m-%d %H:%M}", standing.became or "waits"
    return letter.place, at, letter.stage, letter.reason, became, letter.detail


def summary(standing: LetterStatus) -> dict[str, Any]:
    letter = standing.letter
    return {
        "letter": letter.place,
        "at": letter.at,
        "stage": letter.stage,
        "reason": letter.reason,
        "detail": letter.detail,
        "source": source(letter),
        "is": standing.became or "waits",
        "bytes": letter.bytes,
        "by_reference": letter.by_reference,
    }


def source(letter: Letter) -> str:
    return str(letter.source or "no topic")


def text(value: bytes | None) -> str | None:
    """Bytes that are no UTF-8 are escaped."""
    return None if value is None else value.decode("utf-8", "backslashreplace")
