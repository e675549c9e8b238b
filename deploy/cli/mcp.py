"""`memstream mcp`: the agent tools over MCP on standard input and output, for clients that start their own servers, such as
desktop applications and editors."""

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from typing import Annotated, Any, Final, NamedTuple

import typer

from agents.api.memories.access_counter import FLUSH_INTERVAL_S, AccessCounter
from agents.api.memories.commands import Commands
from agents.api.tools.access import tool_access
from agents.api.tools.mcp import serve_stdio
from agents.api.tools.ports import Blocks, ToolPorts
from agents.api.tools.tools import Tools
from agents.conversations.lookup import Conversations
from agents.passages.passage_reader import PassageReader
from agents.profile.profile_reader import Profiles
from agents.retrieval.recall import Recall
from deploy.cli.command import command, one_command
from deploy.cli.namespace_options import valid_namespaces
from deploy.runtime.process import exit_after, log_to_stderr
from deploy.settings import Settings, load
from deploy.wiring import connections, models, policy_terms, rerankers, search
from deploy.wiring.clock import now
from deploy.wiring.periodic import PeriodicTasks
from schemas.errors import MemstreamError
from sinks.archive.messages import Archive
from sinks.memories.access_counts import Accesses
from sinks.memories.command_results import CommandResults
from sinks.memories.live import LiveMemories
from sinks.memories.reader import Memories
from sinks.passages.store import Passages
from sinks.windows.projection import Windows

log = logging.getLogger(__name__)

CHECK_INTERVAL_S: Final = 1.0
END_WITHIN_S: Final = 2.0

cli = one_command()


@cli.command("mcp")
@command
async def mcp(
    namespace: Annotated[
        list[str],
        typer.Option(
            "--namespace", "-n", help="Namespace to search; may be repeated. Memories are created in the first one."
        ),
    ],
    read_only: Annotated[bool, typer.Option("--read-only", help="Omit the tool that creates memories.")] = False,
    actor: Annotated[str, typer.Option(help="Name stored as the creator of memories.")] = "mcp",
) -> None:
    """Serve the memory tools over MCP (Model Context Protocol) on standard input and output."""
    namespaces = valid_namespaces(namespace)
    settings = load()
    background_tasks = PeriodicTasks()
    async with AsyncExitStack() as resources:
        try:
            tools = await wire_tools(
                settings, McpOptions(namespaces, not read_only, actor), resources, background_tasks
            )
            # Not before it is connected: the Kafka client would log the reason of an error that the command explains.
            log_to_stderr(settings)
            await serve_until_disconnect(serve_stdio(tools), background_tasks)
        finally:
            await background_tasks.stop()  # before their resources close


class McpOptions(NamedTuple):
    """The command's options."""

    namespaces: tuple[str, ...]
    writable: bool
    actor: str


async def serve_until_disconnect(serving: Coroutine[Any, Any, None], background_tasks: PeriodicTasks) -> None:
    """Serves until the client disconnects. If a background task fails, raises its error and ends the process soon after,
    because the blocked reader of standard input would keep it alive."""
    task = asyncio.create_task(serving, name="MCP")
    while not task.done():
        await asyncio.wait([task], timeout=CHECK_INTERVAL_S)
        try:
            background_tasks.raise_if_failed()
        except MemstreamError as exc:
            log.error("the MCP server stops: %s", exc)
            exit_after(END_WITHIN_S)
            raise
    await task


async def wire_tools(
    settings: Settings, options: McpOptions, resources: AsyncExitStack, background_tasks: PeriodicTasks
) -> Tools:
    """Wires the tools for the configured deployment. Their kinds are those of the policies at the start."""
    pool = await resources.enter_async_context(connections.postgres(settings, max_size=4))
    publisher = await resources.enter_async_context(connections.kafka(settings))
    policies = await policy_terms.current_policies(settings, publisher, resources, background_tasks)
    index = await search.open_indexes(settings, policies, resources)
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
    background_tasks.add("reads", FLUSH_INTERVAL_S, accesses.flush)
    permissions = tool_access(
        policies, options.namespaces, options.namespaces if options.writable else (), options.actor
    )
    ports = ToolPorts(
        retrieval=retrieval,
        memories=memories,
        passages=PassageReader(Passages(pool), policies),
        commands=commands,
        clock=now,
        blocks=blocks,
        note=accesses.note,
    )
    return Tools(permissions, ports)
