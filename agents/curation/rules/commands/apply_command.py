"""Applies a command to the ledger."""

from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agents.curation.rules.ledger import change, command_changes
from agents.curation.rules.ledger.ledger import Ledger
from agents.curation.rules.ledger.outcomes import Outcome
from schemas.memories.commands import Command
from schemas.memories.events import Cause
from schemas.memories.memories import Change, Memory, Status
from sinks.vectors.port import Vector

ERASED: Final = "older than the erasure of its namespace"
MEMORY_ERASED: Final = "a memory of its message was erased"


class UndoneChange(Struct, frozen=True):
    """The change to undo: the version that it made, and the memory before it; None if it created the memory. `wish` is the
    cause of the memory before it, if that was a wish to forget."""

    version: int
    before: Memory | None
    wish: Cause | None = None


def apply_command(
    ledger: Ledger,
    command: Command,
    vector: Vector | None,
    now: datetime,
    undone: UndoneChange | None = None,
    fenced: datetime | None = None,
) -> Outcome:
    """Applies a command to the ledger. `vector` is that of its text, or of the text that it restores.

    Rejects commands that were sent before `fenced`, the time of the namespace's erasure.

    A person's or service's statement is never merged into a similar memory, only into one with the same text.
    """
    if fenced is not None and command.at <= fenced:
        return rejected(ledger, ERASED)
    if (version := other_version(ledger, command)) is not None:
        return rejected(ledger, f"memory {command.memory_id} is at version {version}, not {command.if_version}")
    if command.kind == "undo":
        return _undo(ledger, command, vector, now, undone)
    return ORDERS[command.kind](ledger, command, vector, now)


def needs_completion(ledger: Ledger, command: Command) -> bool:
    """Whether a model may add a missing short text or importance."""
    if command.kind == "create":
        if not command.text or not command.text.strip():
            return bool(command.full_text and command.full_text.strip())
        return command.importance is None and ledger.exact(command.text) is None
    given = command.text is not None and command.importance is not None
    if command.kind != "update" or given or not command.full_text or not command.full_text.strip():
        return False
    memory = ledger.find_live(command.memory_id)
    return memory is not None and command.full_text != memory.full_text


def _create(ledger: Ledger, command: Command, vector: Vector | None, now: datetime) -> Outcome:
    if not command.text or not command.text.strip():
        return rejected(ledger, "create needs a text, or a full text of which a short one can be made")
    if (missing := unknown_link(ledger, command)) is not None:
        return rejected(ledger, f"no memory {missing} in {ledger.namespace} to link to")
    if (known := ledger.exact(command.text)) is not None:
        again = command_changes.reinforced_by_command(known, command, now)
        if (problem := validity_problem(command, again)) is not None:
            return rejected(ledger, f"memory {again.memory_id} has this text, and {problem}")
        return accepted(ledger, "reinforced", again, command, now)
    made = command_changes.created_by_command(command, command.text, now)
    if (problem := validity_problem(command, made)) is not None:
        return rejected(ledger, problem)
    return accepted(ledger, "created", made, command, now, vector)


def _update(ledger: Ledger, command: Command, vector: Vector | None, now: datetime) -> Outcome:
    memory = ledger.find_live(command.memory_id)
    if memory is None:
        return rejected(ledger, f"no live memory {command.memory_id} in {ledger.namespace}")
    if command.text is not None and not command.text.strip():
        return rejected(ledger, "the text is empty; delete the memory instead")
    if (missing := unknown_link(ledger, command)) is not None:
        return rejected(ledger, f"no memory {missing} in {ledger.namespace} to link to")
    after = command_changes.updated(memory, command, now)
    if (problem := validity_problem(command, after)) is not None:
        return rejected(ledger, problem)
    if after == replace(memory, updated_at=now):  # no new version without a change
        return unchanged(ledger, memory)
    return accepted(ledger, "updated", after, command, now, vector)


def validity_problem(command: Command, memory: Memory) -> str | None:
    """Why the validity that the command sets is rejected: the memory would end before it begins. None if it is valid."""
    begins, ends = memory.valid_from, memory.valid_until
    if (command.valid_from is None and command.valid_until is None) or begins is None or ends is None or begins < ends:
        return None
    return (
        f"it would end (valid_until {ends.isoformat()}) before it begins (valid_from {begins.isoformat()}): give an earlier "
        "valid_from as well, or clear it if the beginning is unknown"
    )


def unknown_link(ledger: Ledger, command: Command) -> str | None:
    """The first linked memory of the command that does not exist; None if all exist."""
    return next((link.memory_id for link in command.links or () if ledger.find(link.memory_id) is None), None)


def _delete(ledger: Ledger, command: Command, vector: Vector | None, now: datetime) -> Outcome:
    memory = ledger.find(command.memory_id)
    if memory is None:
        return rejected(ledger, f"no memory {command.memory_id} in {ledger.namespace}")
    return accepted(ledger, "deleted", change.deleted(memory, now), command, now)


def _erase(ledger: Ledger, command: Command, vector: Vector | None, now: datetime) -> Outcome:
    """Removes a memory of any status."""
    memory = ledger.find_any_status(command.memory_id)
    if memory is None:
        return rejected(ledger, f"no memory {command.memory_id} in {ledger.namespace}")
    return accepted(ledger, "purged", change.deleted(memory, now), command, now)


def _undo(
    ledger: Ledger, command: Command, vector: Vector | None, now: datetime, undone: UndoneChange | None
) -> Outcome:
    """Restores the state before a change, as a further change. Deletes the memory if the change created or restored it."""
    memory = ledger.find_any_status(command.memory_id)
    if memory is None or undone is None:
        which = f"version {command.version}" if command.version else "change"
        return rejected(ledger, f"no {which} of a memory {command.memory_id} in {ledger.namespace}")
    command = replace(command, reason=f"undo of version {undone.version}: {command.reason or 'as asked'}")
    before = undone.before or change.deleted(memory, now)
    if before.status == memory.status == "deleted":
        return unchanged(ledger, memory)
    over = before.expires_at is not None and before.expires_at <= now  # it would expire again at once
    restored = replace(
        before,
        expires_at=None if over else before.expires_at,
        valid_until=None if has_ended(before, now) else before.valid_until,
        links=tuple(link for link in before.links if ledger.find(link.memory_id) is not None),
        updated_at=now,
    )
    kind = change_to(before.status, memory.status)
    return accepted(ledger, kind, restored, command, now, vector, undone.wish)


def change_to(earlier: Status, current: Status) -> Change:
    """The change of an undo that gives a memory its earlier status: `restored`, unless the memory ends again."""
    if current == "deleted" or earlier == "active" or earlier == current:
        return "restored"
    return earlier


def has_ended(memory: Memory, now: datetime) -> bool:
    """Whether the validity of a live memory has ended."""
    return memory.status == "active" and memory.valid_until is not None and memory.valid_until <= now


def _import(ledger: Ledger, command: Command, vector: Vector | None, now: datetime) -> Outcome:
    """An existing memory stays unchanged: repeating an import changes nothing."""
    if not command.text or not command.text.strip() or not command.memory_id:
        return rejected(ledger, "import needs a text and a memory_id")
    known = next(filter(None, map(ledger.find, command_changes.import_ids(command))), None) or ledger.exact(
        command.text
    )
    if known is not None:
        return unchanged(ledger, known)
    own, derived = command_changes.import_ids(command)
    is_foreign = ledger.knows(own) and ledger.find_any_status(own) is None
    memory = command_changes.imported(command, derived if is_foreign else own, command.text, now)
    kind: Change = "restored" if ledger.find_any_status(memory.memory_id) else "created"
    return accepted(ledger, kind, memory, command, now, vector)


def _uninstall(ledger: Ledger, command: Command, vector: Vector | None, now: datetime) -> Outcome:
    """The app is removed; its memories stay unless the command also purges."""
    return Outcome(status="accepted", namespace=ledger.namespace, sequence=ledger.sequence)


ORDERS = {
    "create": _create,
    "update": _update,
    "delete": _delete,
    "erase": _erase,
    "uninstall": _uninstall,
    "import": _import,
}


def other_version(ledger: Ledger, command: Command) -> int | None:
    """The memory's version if the command expects another one; None otherwise."""
    memory = ledger.find_any_status(command.memory_id)
    if memory is None or command.if_version in (None, memory.version):
        return None
    return memory.version


def accepted(
    ledger: Ledger,
    kind: Change,
    memory: Memory,
    command: Command,
    now: datetime,
    vector: Vector | None = None,
    wish: Cause | None = None,
) -> Outcome:
    """Enters a change by the command, which may put a wish into effect again: `wish` is the earlier cause."""
    earlier = wish or Cause(actor=command.actor)
    cause = replace(earlier, actor=command.actor, command_id=command.command_id, request_id=None, reason=command.reason)
    after = ledger.enter(kind, memory, cause, now, vector)
    return Outcome(
        status="accepted",
        namespace=ledger.namespace,
        sequence=ledger.sequence,
        memory_id=after.memory_id,
        change=kind,
    )


def unchanged(ledger: Ledger, memory: Memory) -> Outcome:
    return Outcome(status="accepted", namespace=ledger.namespace, sequence=ledger.sequence, memory_id=memory.memory_id)


def rejected(ledger: Ledger, reason: str) -> Outcome:
    return Outcome(status="rejected", namespace=ledger.namespace, sequence=ledger.sequence, reason=reason)
