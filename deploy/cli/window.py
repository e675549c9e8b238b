"""`memstream window`: shows a conversation's context, and publishes control events for its window."""

import sys
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import Annotated, Any, get_args

import typer
from msgspec import convert, to_builtins

from agents.conversations.control import ByHand, WindowControlSender, control_record
from agents.conversations.user_settings import UserSettingsService
from deploy.cli import terminal, window_view
from deploy.cli.command import Json, WrongUsage, command, several_commands
from deploy.settings import load
from deploy.wiring import connections
from schemas.conversations.adjustments import Mark
from schemas.conversations.user_settings import User
from schemas.conversations.window_choices import WindowChoice
from schemas.conversations.windows import WindowState
from schemas.counts import counted
from schemas.errors import Misconfigured
from schemas.kafka import topics
from sinks.postgres.connection import Pool
from sinks.windows.projection import Windows
from sinks.windows.user_settings import UserSettings

cli = several_commands(
    "Show, flush, prune, clear or restore a conversation's context window, mark messages, choose settings."
)

Conversation = Annotated[str, typer.Argument(help="The conversation's id.", show_default=False)]


@cli.command()
@command
async def show(conversation: Conversation, json: Json = False) -> None:
    """Show a conversation's context: statistics, prunings and markers."""
    async with connections.postgres(load(), max_size=1) as pool:
        state = await window_state(pool, conversation)
    if json:
        terminal.print_json(window_view.as_json(state))
    else:
        window_view.show(state, datetime.now(UTC))


@cli.command()
@command
async def flush(conversation: Conversation, json: Json = False) -> None:
    """Request the extraction of all messages that are not extracted yet."""
    await send_control(conversation, "flush", json)


@cli.command()
@command
async def prune(conversation: Conversation, json: Json = False) -> None:
    """Remove from the context what the current task does not need. `restore` undoes it for ten minutes."""
    await send_control(conversation, "prune", json)


@cli.command()
@command
async def clear(
    conversation: Conversation,
    json: Json = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Skip the confirmation; scripts are never asked.")] = False,
) -> None:
    """Remove everything but the system prompt from the context. Waiting messages are still extracted."""
    if not yes and sys.stdin.isatty():
        typer.confirm(f"Clear the history of {conversation}? For ten minutes `restore` undoes it.", abort=True)
    await send_control(conversation, "clear", json)


@cli.command()
@command
async def restore(conversation: Conversation, json: Json = False) -> None:
    """Undo the last prune or clear: within ten minutes, and if nothing else left the context since."""
    await send_control(conversation, "restore", json)


@cli.command()
@command
async def mark(
    conversation: Conversation,
    message: Annotated[str, typer.Argument(help="The message's id.", show_default=False)],
    importance: Annotated[str, typer.Argument(help="pinned, important, expendable or normal.", show_default=False)],
    json: Json = False,
) -> None:
    """Mark a sent message: pinned and important ones stay in context, expendable ones leave first."""
    if importance not in get_args(Mark):
        raise WrongUsage(f"unknown importance {importance!r}: use one of {', '.join(get_args(Mark))}")
    await send_control(conversation, "mark", json, message_id=message, importance=importance)


Strategy = Annotated[str | None, typer.Option(help="rolling_window, importance or hybrid.", show_default=False)]
MaxMessages = Annotated[
    int | None, typer.Option(help="Messages in context, besides the system prompt.", show_default=False)
]
MaxTokens = Annotated[int | None, typer.Option(help="Billed tokens in context.", show_default=False)]
MinRecent = Annotated[int | None, typer.Option(help="Latest messages that are never pruned.", show_default=False)]
WarningAt = Annotated[
    float | None, typer.Option(help="Share of the model's context from which messages are pruned.", show_default=False)
]
Reset = Annotated[bool, typer.Option("--reset", help="Return to the policy's settings.")]


@cli.command()
@command
async def settings(
    conversation: Conversation,
    strategy: Strategy = None,
    max_messages: MaxMessages = None,
    max_tokens: MaxTokens = None,
    min_recent: MinRecent = None,
    warning_at: WarningAt = None,
    reset: Reset = False,
    json: Json = False,
) -> None:
    """Choose settings for a conversation's context. They replace all settings chosen for it before."""
    chosen = parse_choice(reset, strategy, max_messages, max_tokens, min_recent, warning_at)
    if chosen is None:
        raise WrongUsage("give at least one setting, or --reset; `memstream window show` shows the current ones")
    await send_control(conversation, "settings", json, settings=chosen)


@cli.command()
@command
async def user_settings(
    user: Annotated[str, typer.Argument(help="The user's id.", show_default=False)],
    tenant_id: Annotated[str | None, typer.Option(help="Only conversations of this tenant.")] = None,
    app_id: Annotated[str | None, typer.Option(help="Only conversations of this app.")] = None,
    strategy: Strategy = None,
    max_messages: MaxMessages = None,
    max_tokens: MaxTokens = None,
    min_recent: MinRecent = None,
    warning_at: WarningAt = None,
    reset: Reset = False,
    json: Json = False,
) -> None:
    """Choose settings for the contexts of all of a user's conversations, or show the chosen ones."""
    chosen = parse_choice(reset, strategy, max_messages, max_tokens, min_recent, warning_at)
    user_key, configuration = User(user_id=user, tenant_id=tenant_id, app_id=app_id), load()
    async with connections.postgres(configuration, max_size=1) as pool, AsyncExitStack() as resources:
        store = UserSettings(pool)
        windows: dict[str, Any] = {}
        if chosen is not None:
            publisher = await resources.enter_async_context(connections.kafka(configuration))
            control = WindowControlSender(publisher, lambda: datetime.now(UTC))
            service = UserSettingsService(store, Windows(pool), control, lambda: datetime.now(UTC))
            windows["windows"] = await service.choose(user_key, chosen)
        stored = to_builtins(await store.chosen_for(user_key))
    if json:
        terminal.print_json({"user": to_builtins(user_key), "chosen": stored} | windows)
        return
    shown = ", ".join(f"{name} {value}" for name, value in stored.items()) or "nothing; the policies' settings apply"
    told = f"; sent to {counted(windows['windows'], 'windows')}" if windows else ""
    terminal.print_line(f"{user} chose: {shown}{told}")


def parse_choice(
    reset: bool,
    strategy: str | None,
    max_messages: int | None,
    max_tokens: int | None,
    min_recent: int | None,
    warning_at: float | None,
) -> WindowChoice | None:
    """Returns the chosen settings; None without any option. Raises WrongUsage for values that no policy allows."""
    given: dict[str, Any] = {"strategy": strategy, "max_messages": max_messages, "max_tokens": max_tokens}
    given |= {"min_recent": min_recent, "warning_at": warning_at}
    chosen_fields = {name: value for name, value in given.items() if value is not None}
    if not chosen_fields and not reset:
        return None
    if chosen_fields and reset:
        raise WrongUsage("--reset returns to the policy's settings: omit the others")
    try:
        chosen = convert(chosen_fields, WindowChoice)
        chosen.require_plausible()
    except ValueError as exc:
        raise WrongUsage(str(exc)) from exc
    return chosen


async def send_control(conversation: str, kind: ByHand, json: bool, **fields: Any) -> None:
    """Publishes a control event and reports it. Raises Misconfigured for an unknown or expired window."""
    settings = load()
    async with connections.postgres(settings, max_size=1) as pool:
        state = await window_state(pool, conversation)
    if state.phase == "forgotten":
        raise Misconfigured(f"the window of {conversation!r} has expired: there is nothing left to {kind}")
    async with connections.kafka(settings) as publisher:
        await publisher.publish([control_record(state, kind, datetime.now(UTC), **fields)])
    topic = settings.topics().physical(topics.WINDOW_CONTROL)
    if json:
        sent: dict[str, Any] = {"kind": kind, "conversation_id": conversation, "topic": topic}
        terminal.print_json(sent | {"partition": state.partition})
    else:
        terminal.print_line(f"sent {kind} for {conversation} to partition {state.partition} of {topic}")


async def window_state(pool: Pool, conversation: str) -> WindowState:
    """Returns the state of the conversation's window. Raises Misconfigured if there is none."""
    state = await Windows(pool).of(conversation)
    if state is None:
        raise Misconfigured(
            f"there is no window of conversation {conversation!r}: check the id, and that a worker runs "
            "(a new conversation appears about a second after its first message)"
        )
    return state
