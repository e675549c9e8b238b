"""`memstream window`: what is known of a conversation's context, and the control events that act on it by hand."""

import sys
from datetime import UTC, datetime
from typing import Annotated, Any, get_args

import typer

from agents.conversations.control import ByHand, control_record
from deploy.cli import terminal, window_view
from deploy.cli.command import Json, command, several_commands
from deploy.settings import load
from deploy.wiring import connections
from schemas.conversations.adjustments import Mark
from schemas.conversations.windows import WindowState
from schemas.errors import Misconfigured
from schemas.kafka import topics
from sinks.postgres.connection import Pool
from sinks.windows.projection import Windows

cli = several_commands("Show, flush, prune, clear or restore a conversation's context window, or mark a message in it.")

Conversation = Annotated[str, typer.Argument(help="The conversation's id.", show_default=False)]


@cli.command()
@command
async def show(conversation: Conversation, json: Json = False) -> None:
    """Show a conversation's context: statistics, where messages left it, when and why."""
    async with connections.postgres(load(), max_size=1) as pool:
        state = await known(pool, conversation)
    if json:
        terminal.print_json(window_view.as_json(state))
    else:
        window_view.show(state, datetime.now(UTC))


@cli.command()
@command
async def flush(conversation: Conversation, json: Json = False) -> None:
    """Ask for the extraction of all that was said and not yet extracted."""
    await send(conversation, "flush", json)


@cli.command()
@command
async def prune(conversation: Conversation, json: Json = False) -> None:
    """Take out of the context what the current task does not need."""
    await send(conversation, "prune", json)


@cli.command()
@command
async def clear(
    conversation: Conversation,
    json: Json = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; scripts are never asked.")] = False,
) -> None:
    """Take everything out of the context but the system prompt; what is not yet extracted still will be."""
    if not yes and sys.stdin.isatty():
        typer.confirm(f"Clear the history of {conversation}? For ten minutes `restore` undoes it.", abort=True)
    await send(conversation, "clear", json)


@cli.command()
@command
async def restore(conversation: Conversation, json: Json = False) -> None:
    """Undo the last clear: for ten minutes after it, and while nothing else has left the context."""
    await send(conversation, "restore", json)


@cli.command()
@command
async def mark(
    conversation: Conversation,
    message: Annotated[str, typer.Argument(help="The message's id.", show_default=False)],
    importance: Annotated[str, typer.Argument(help="pinned, important, expendable, or normal.", show_default=False)],
    json: Json = False,
) -> None:
    """Mark a message that was sent already: pinned and important ones stay, expendable ones leave first."""
    if importance not in get_args(Mark):
        raise Misconfigured(f"{importance!r} is none of {', '.join(get_args(Mark))}")
    await send(conversation, "mark", json, message_id=message, importance=importance)


async def send(conversation: str, kind: ByHand, json: bool, **fields: Any) -> None:
    """Publishes the control event and says so. Raises Misconfigured for a window that is not there."""
    settings = load()
    async with connections.postgres(settings, max_size=1) as pool:
        state = await known(pool, conversation)
    if state.phase == "forgotten":
        raise Misconfigured(f"the window of {conversation!r} is forgotten: there is nothing left to {kind}")
    async with connections.kafka(settings) as publisher:
        await publisher.publish([control_record(state, kind, datetime.now(UTC), **fields)])
    topic = settings.topics().physical(topics.WINDOW_CONTROL)
    if json:
        sent: dict[str, Any] = {"kind": kind, "conversation_id": conversation, "topic": topic}
        terminal.print_json(sent | {"partition": state.partition})
    else:
        terminal.print_line(f"sent {kind} for {conversation} to partition {state.partition} of {topic}")


async def known(pool: Pool, conversation: str) -> WindowState:
    """The projected state of the conversation's window. Raises Misconfigured when there is none."""
    state = await Windows(pool).of(conversation)
    if state is None:
        raise Misconfigured(
            f"no window of a conversation {conversation!r} is known: check the id, and that a worker runs "
            "(a new conversation shows up about a second after its first message)"
        )
    return state
