"""`memstream mcp`: the agent tools for a client that starts its servers itself, as desktop applications and editors do."""

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from importlib.metadata import version
from typing import Annotated, Any, Final, NamedTuple

import typer

from agents.api.memories.access_counter import FLUSH_S, AccessCounter
from agents.api.memories.commands import Commands
from agents.api.tools.mcp import serve_stdio
from agents.api.tools.ports import Blocks, ToolPorts
from agents.api.tools.tools import Tools, access
from agents.conversations.lookup import Conversations
from agents.passages.reading import PassageReader
from agents.profile.reading import Profiles
from agents.retrieval.recall import Recall
from deploy.cli.command import command, one_command
from deploy.runtime.process import end_soon, log_to_stderr
from deploy.settings import Settings, load
from deploy.wiring import connections, models, policy_terms, rerankers, search
from deploy.wiring.periodic import PeriodicTasks
from deploy.wiring.stage_parts import now
from schemas.errors import MemstreamError
from sinks.archive.messages import Archive
from sinks.memories.access_counts import Accesses
from sinks.memories.command_results import CommandResults
from sinks.memories.live import LiveMemories
from sinks.memories.reader import Memories
from sinks.passages.store import Passages
from sinks.windows.projection import Windows

log = logging.getLogger(__name__)

WATCH_S: Final = 1.0
END_WITHIN_S: Final = 2.0

cli = one_command()


@cli.command("mcp")
@command
async def mcp(
    namespace: Annotated[
        list[str],
        typer.Option("--namespace", "-n", help="Namespace that is searched; memories are created in the first one."),
    ],
    read_only: Annotated[bool, typer.Option("--read-only", help="Without the tool that creates memories.")] = False,
    actor: Annotated[str, typer.Option(help="Who is said to have created a memory.")] = "mcp",
) -> None:
    """Serve the memory tools to a model's client, by the Model Context Protocol on standard input and output."""
    settings = load()
    log_to_stderr(settings)  # standard output is the protocol's
    chores = PeriodicTasks()
    async with AsyncExitStack() as resources:
        try:
            tools = await wired(settings, Asked(tuple(namespace), not read_only, actor), resources, chores)
            await watched(serve_stdio(tools, version("memstream")), chores)
        finally:
            await chores.stop()  # before what they use is closed


class Asked(NamedTuple):
    """What the client's configuration asks for."""

    namespaces: tuple[str, ...]
    writable: bool
    actor: str


async def watched(serving: Coroutine[Any, Any, None], chores: PeriodicTasks) -> None:
    """Until the client leaves. Raises what ended a chore, and then ends the process soon: who reads standard input reads on."""
    task = asyncio.create_task(serving, name="MCP")
    while not task.done():
        await asyncio.wait([task], timeout=WATCH_S)
        try:
            chores.raise_if_failed()
        except MemstreamError as exc:
            log.error("the server ends: %s", exc)
            end_soon(END_WITHIN_S)
            raise
    await task


async def wired(settings: Settings, asked: Asked, resources: AsyncExitStack, chores: PeriodicTasks) -> Tools:
    """The tools over the deployment that the settings name. Kinds are those that policies have when the client begins."""
    pool = await resources.enter_async_context(connections.postgres(settings, max_size=4))
    publisher = await resources.enter_async_context(connections.kafka(settings))
    policies = await policy_terms.current_policies(settings, publisher, resources, chores)
    index = await search.searchable(settings, policies, resources)
    memories, archive, commands = Memories(pool), Archive(pool), Commands(publisher, CommandResults(pool))
    resources.push_async_callback(commands.close)
    tiers = search.retrieval(pool, index, policies)
    retrieval = await resources.enter_async_context(rerankers.reranked(settings, pool, policies, tiers))
    count_tokens = models.token_counter(settings)
    profiles = Profiles(LiveMemories(pool), count_tokens, now)
    blocks = Blocks(
        Conversations(Windows(pool), archive, policies),
        Recall(retrieval, archive, policies, count_tokens, now, profiles),
    )
    accesses = AccessCounter(Accesses(pool), now)
    resources.push_async_callback(accesses.flush)
    chores.add("reads", FLUSH_S, accesses.flush)
    reach = access(policies, asked.namespaces, asked.namespaces if asked.writable else (), asked.actor)
    ports = ToolPorts(
        retrieval=retrieval,
        memories=memories,
        passages=PassageReader(Passages(pool), policies),
        commands=commands,
        clock=now,
        blocks=blocks,
        note=accesses.note,
    )
    return Tools(reach, ports)
