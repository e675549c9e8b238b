"""A curator in memory: applies commands at once by the real rules, and keeps their outcomes."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from agents.curation.rules.commands.apply_command import UndoneChange, apply_command
from agents.curation.rules.ledger.ledger import Ledger
from agents.curation.rules.ledger.outcomes import ErasedMemory, Outcome
from schemas.erasure.receipts import Remains
from schemas.errors import Retryable
from schemas.memories.commands import Command
from sinks.memories.reader import MemoryVersion
from tests.fakes.memories import FakeMemories


class FakeCuration:
    """A CommandSender. `late`: no outcome in time; `down`: Kafka does not answer. `before` is called before each command, as
    a concurrent writer."""

    def __init__(self, memories: FakeMemories, clock: Callable[[], datetime]) -> None:
        self.seen: list[Command] = []
        self.outcomes: dict[tuple[str, str], Outcome] = {}
        self.late = False
        self.down = False
        self.remains: tuple[Remains, ...] = ()
        self.before: Callable[[], object] = lambda: None
        self._memories = memories
        self._clock = clock

    async def send_and_wait(self, command: Command) -> Outcome | None:
        if self.down:
            raise Retryable("Kafka did not confirm the command within 5 s")
        self.seen.append(command)
        if self.late:
            return None
        self.before()
        sent = (command.namespace, command.command_id)
        if sent not in self.outcomes:
            self.outcomes[sent] = replace(self._applied(command), digest=command.digest)
        return self.outcomes[sent]

    async def send_all_and_wait(self, commands: Sequence[Command]) -> list[Outcome | None]:
        return [await self.send_and_wait(command) for command in commands]

    async def send(self, commands: Sequence[Command]) -> None:
        await self.send_all_and_wait(commands)

    async def outcome(self, namespace: str, command_id: str) -> Outcome | None:
        return self.outcomes.get((namespace, command_id))

    async def settled(self, namespace: str, command_ids: Sequence[str]) -> set[str]:
        return {each for each in command_ids if (namespace, each) in self.outcomes}

    def _applied(self, command: Command) -> Outcome:
        if command.kind == "purge":
            return self._purge(command)
        if command.kind == "erase":
            return self._erase(command)
        known = self._memories.rows.values()
        sequences = [memory.sequence for memory in known if memory.namespace == command.namespace]
        ledger = Ledger(command.namespace, max(sequences, default=0), known)
        outcome = apply_command(ledger, command, None, self._clock(), self._change_to_undo(command))
        for entry in ledger.entries:
            self._memories.put(entry.after)
            self._memories.version_rows.append(
                MemoryVersion(
                    memory_id=entry.after.memory_id,
                    version=entry.after.version,
                    namespace=command.namespace,
                    change=entry.change,
                    before=entry.before,
                    after=entry.after,
                    cause=entry.cause,
                    at=entry.at,
                )
            )
        return outcome

    def _erase(self, command: Command) -> Outcome:
        memory_id = command.memory_id or ""
        fields: dict[str, Any] = {"namespace": command.namespace, "sequence": 99}
        if self._memories.rows.pop(memory_id, None) is None:
            reason = f"memory {memory_id} was erased before"
            return Outcome(status="accepted", memory_id=memory_id, reason=reason, **fields)
        versions = [each for each in self._memories.version_rows if each.memory_id == memory_id]
        self._memories.version_rows = [each for each in self._memories.version_rows if each not in versions]
        self._memories.erased[memory_id] = command.namespace
        erased = ErasedMemory(
            memories=1,
            versions=len(versions),
            vectors=1,
            messages=1,
            messages_hidden=not command.keep_messages,
            remains=self.remains,
        )
        return Outcome(status="accepted", memory_id=memory_id, change="purged", erased=erased, **fields)

    def _purge(self, command: Command) -> Outcome:
        rows = self._memories.rows
        for memory_id in [each for each, memory in rows.items() if memory.namespace == command.namespace]:
            del rows[memory_id]
        return Outcome(status="accepted", namespace=command.namespace, sequence=99, change="purged")

    def _change_to_undo(self, command: Command) -> UndoneChange | None:
        of_it = [each for each in self._memories.version_rows if each.memory_id == command.memory_id]
        wanted = [each for each in of_it if command.version in (None, each.version)]
        return UndoneChange(wanted[-1].version, wanted[-1].before) if wanted else None
