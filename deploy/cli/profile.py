"""`memstream profile`: the text for a system prompt, and the memories that each of its lines rests on."""

from datetime import UTC, datetime
from functools import partial
from typing import Annotated

import typer
from msgspec.structs import asdict

from agents.profile.reading import Profiles
from deploy.cli import policy_store, terminal
from deploy.cli.command import Json, command, one_command
from deploy.settings import load
from deploy.wiring import connections
from deploy.wiring.models import token_counter
from schemas.profile.profiles import Profile
from sinks.memories.live import LiveMemories

cli = one_command()


@cli.command()
@command
async def profile(
    namespace: Annotated[str, typer.Argument(help="The namespace, such as app/user.", show_default=False)],
    sources: Annotated[bool, typer.Option(help="Show the memories that each line rests on.")] = False,
    json: Json = False,
) -> None:
    """Show the profile of a namespace: what every prompt about it should know."""
    settings = load()
    policies = policy_store.applying(settings, await policy_store.stored(settings))
    async with connections.postgres(settings, max_size=1) as pool:
        profiles = Profiles(LiveMemories(pool), token_counter(settings), partial(datetime.now, UTC))
        made = await profiles.of((namespace,), policies.governing(namespace))
    if json:
        terminal.print_json(asdict(made))
    else:
        show(made, sources)


def show(made: Profile, sources: bool) -> None:
    """The text as it stands in a prompt, so that it can be piped into one; about it on stderr."""
    if not made.text:
        terminal.print_error("the profile is empty: nothing is remembered that every prompt should know")
        return
    if sources:
        for line in made.lines:
            terminal.print_line(f"{line.part}: {line.text} [{' '.join(line.memory_ids)}]")
    else:
        terminal.print_line(made.text)
    terminal.print_error(f"{made.tokens} of {made.max_tokens} tokens, version {made.version}{left_out(made)}")


def left_out(made: Profile) -> str:
    return f", {made.left_out} lines had no room" if made.left_out else ""
