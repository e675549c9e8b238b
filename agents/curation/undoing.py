"""Finds the target of an undo command: a change of a memory, or a wish that hid messages."""

from agents.curation.rules.apply_command import UndoneChange
from schemas.memories.commands import Command
from sinks.memories.hidden_messages import HiddenMessages
from sinks.memories.reader import Memories
from sinks.postgres.connection import Connection


async def change_to_undo(connection: Connection, command: Command) -> UndoneChange | None:
    """The change that the command undoes: its version, otherwise the latest one. None if there is none."""
    if command.kind != "undo" or command.memory_id is None:
        return None
    found = await Memories(connection).version(command.memory_id, command.version)
    if found is None or found.namespace != command.namespace:
        return None
    return UndoneChange(found.version, found.before)


async def show_hidden_messages(connection: Connection, command: Command) -> bool:
    """Shows the messages again that a wish hid, if the command names such a wish. Returns whether it does."""
    if command.kind != "undo" or command.memory_id is None:
        return False
    return await HiddenMessages(connection).show(command.namespace, command.memory_id)
