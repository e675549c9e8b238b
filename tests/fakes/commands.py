"""A command sender that applies commands at once to fake memories."""

from agents.curation.rules.ledger.command_changes import created_by_command
from agents.curation.rules.ledger.outcomes import Outcome
from schemas.memories.commands import Command
from tests.fakes.memory_index import FakeMemoryIndex


class FakeCommands:
    """Created memories are found, deleted ones are not.

    If set, `outcome` is returned instead; None with `late`; `failure` is raised.
    """

    def __init__(self, remembered: FakeMemoryIndex) -> None:
        self.seen: list[Command] = []
        self.outcome: Outcome | None = None
        self.late = False
        self.failure: Exception | None = None
        self._remembered = remembered

    async def send_and_wait(self, command: Command) -> Outcome | None:
        if self.failure is not None:
            raise self.failure
        self.seen.append(command)
        if self.late or self.outcome is not None:
            return self.outcome
        if command.kind == "delete":
            self._remembered.known.pop(command.memory_id or "", None)
            return Outcome(
                status="accepted",
                namespace=command.namespace,
                sequence=1,
                memory_id=command.memory_id,
                change="deleted",
            )
        memory = created_by_command(command, command.text or "", command.at)
        self._remembered.known[memory.memory_id] = memory
        return Outcome(
            status="accepted", namespace=command.namespace, sequence=1, memory_id=memory.memory_id, change="created"
        )
