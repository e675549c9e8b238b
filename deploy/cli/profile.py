"""`memstream profile`: prints the profile of a namespace, and on request the memories behind each line."""

from datetime import UTC, datetime
from functools import partial
from typing import Annotated

import typer
from msgspec.structs import asdict

from agents.profile.profile_reader import Profiles
from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.cli.namespace_options import NamespaceArgument, NamespaceOption, one_namespace
from deploy.settings import load
from deploy.wiring import connections, policy_store
from deploy.wiring.models import token_counter
from schemas.counts import counted
from schemas.profile.profiles import Profile
from sinks.memories.live import LiveMemories

cli = one_command()


@cli.command()
@command
async def profile(
    namespace: NamespaceArgument = None,
    sources: Annotated[bool, typer.Option(help="Show the memories behind each line.")] = False,
    namespace_option: NamespaceOption = None,
    json: Json = False,
) -> None:
    """Show the profile of a namespace: the memories that belong in every prompt."""
    name, settings = one_namespace(namespace, namespace_option), load()
    policies = policy_store.policies_in_effect(settings, await policy_store.stored_policies(settings))
    async with connections.postgres(settings, max_size=1) as pool:
        profiles = Profiles(LiveMemories(pool), token_counter(settings), partial(datetime.now, UTC))
        profile = await profiles.of((name,), policies.governing(name))
    if json:
        terminal.print_json(asdict(profile))
    else:
        show(profile, sources)


def show(profile: Profile, sources: bool) -> None:
    """Prints the text on stdout, ready for a prompt, and its statistics on stderr."""
    if not profile.text:
        terminal.print_error("the profile is empty: no memory belongs in every prompt")
        return
    if sources:
        for line in profile.lines:
            terminal.print_line(f"{line.part}: {line.text} [{' '.join(line.memory_ids)}]")
    else:
        terminal.print_line(profile.text)
    terminal.print_error(
        f"{profile.tokens} of {profile.max_tokens} tokens, version {profile.version}{left_out(profile)}"
    )


def left_out(profile: Profile) -> str:
    return f", {counted(profile.left_out, 'lines')} left out for lack of tokens" if profile.left_out else ""
