"""`memstream erase --memory`: erases a single memory, by a command to the curator."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from msgspec import Struct

from agents.api.memories.commands import Commands
from agents.curation.rules.ledger.outcomes import ErasedMemory, Outcome
from deploy.cli import terminal
from deploy.cli.command import current_user
from deploy.settings import Settings
from deploy.wiring import connections
from schemas.counts import counted
from schemas.errors import Misconfigured
from schemas.memories.commands import Command
from schemas.memories.memories import Memory
from schemas.policies.shadows import is_reserved
from sinks.erasure.erased_memories import ErasedMemories
from sinks.memories.command_results import CommandResults
from sinks.memories.reader import Memories
from sinks.postgres.connection import Pool


class PlannedMemory(Struct, frozen=True, kw_only=True):
    """A memory that would be erased, and the row counts of its data (`held`)."""

    memory_id: str
    namespace: str
    status: str
    text: str
    held: dict[str, int]


async def plan_memory(pool: Pool, memory_id: str, json: bool) -> int:
    """Prints what an erasure of the memory would delete. Raises Misconfigured for an unknown one."""
    memory = await find_memory(pool, memory_id)
    if memory is None:
        return await print_absent(pool, memory_id, json)
    held = await ErasedMemories(pool).held(memory_id)
    planned = PlannedMemory(
        memory_id=memory_id, namespace=memory.namespace, status=memory.status, text=memory.text, held=held
    )
    if json:
        terminal.print_json(planned)
    else:
        counts = ", ".join(counted(count, name.replace("_", " ")) for name, count in held.items() if count)
        text = f": {memory.text}" if memory.text else ""
        terminal.print_line(f"{memory_id} of {memory.namespace} ({memory.status}) would be erased, with {counts}{text}")
    return 0


async def erase_memory(settings: Settings, pool: Pool, memory_id: str, wait_s: float, json: bool, **fields: Any) -> int:
    """Erases the memory and prints the outcome; `fields` are those of the command. Returns 1 if the outcome is unknown after
    `wait_s` seconds. Raises Misconfigured for an unknown memory."""
    memory = await find_memory(pool, memory_id)
    if memory is None:
        return await print_absent(pool, memory_id, json)
    command = Command(
        command_id=str(uuid4()),
        kind="erase",
        namespace=memory.namespace,
        at=datetime.now(UTC),
        actor=current_user(),
        memory_id=memory_id,
        **fields,
    )
    async with connections.kafka(settings) as publisher:
        commands = Commands(publisher, CommandResults(pool), wait_s=wait_s)
        try:
            outcome = await commands.send_and_wait(command)
        finally:
            await commands.close()
    return print_outcome(memory, command, outcome, json)


async def find_memory(pool: Pool, memory_id: str) -> Memory | None:
    """The memory, unless a replay made it: those go with the memories whose messages they come from."""
    memory = await Memories(pool).get(memory_id)
    return None if memory is None or is_reserved(memory.namespace) else memory


async def print_absent(pool: Pool, memory_id: str, json: bool) -> int:
    """Says that the memory was erased before. Raises Misconfigured for an unknown one."""
    namespace = await Memories(pool).erased_from(memory_id)
    if namespace is None:
        raise Misconfigured(f"there is no memory {memory_id}")
    if json:
        terminal.print_json({"memory_id": memory_id, "namespace": namespace, "status": "erased before"})
    else:
        terminal.print_line(f"{memory_id} of {namespace} was erased before")
    return 0


def print_outcome(memory: Memory, command: Command, outcome: Outcome | None, json: bool) -> int:
    if json and outcome is not None:
        terminal.print_json(outcome)
    elif outcome is None:
        terminal.print_line(f"{memory.memory_id} pending: a worker applies command {command.command_id}")
    elif outcome.erased is None:
        terminal.print_line(f"{memory.memory_id} {outcome.status}: {outcome.reason}")
    else:
        terminal.print_line(f"{memory.memory_id} of {memory.namespace} erased: {summary(outcome.erased)}")
    return 0 if outcome is not None and outcome.status == "accepted" else 1


def summary(erased: ErasedMemory) -> str:
    """The deleted rows, and what remains until when, in one line."""
    counts = {"memories": erased.memories, "versions": erased.versions, "vectors": erased.vectors}
    parts = [", ".join(counted(count, name) for name, count in counts.items() if count)]
    if erased.messages:
        hidden = "hidden from search" if erased.messages_hidden else "which search still finds"
        parts.append(f"the archive keeps {counted(erased.messages, 'source messages')}, {hidden}")
    if ends := [each.until for each in erased.remains if each.until is not None]:
        parts.append(f"Kafka deletes its input and events by {max(ends):%Y-%m-%d}")
    return "; ".join(parts)
