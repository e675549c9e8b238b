"""Carrying a command into the ledger, and what came of it."""

from datetime import datetime

from agents.curation import change
from agents.curation.ledger import Ledger
from agents.curation.outcome import Outcome
from schemas.events import Cause
from schemas.memories import Change, Memory
from schemas.requests import Command
from sinks.vectors import Vector


def obey(ledger: Ledger, command: Command, vector: Vector | None, now: datetime) -> Outcome:
    """Enters what a command asks for; `vector` is that of its text.

    A person's or service's word is not second-guessed: only the same text is folded into what is known, no near one.
    """
    return ORDERS[command.kind](ledger, command, vector, now)


def _create(ledger: Ledger, command: Command, vector: Vector | None, now: datetime) -> Outcome:
    if not command.text or not command.text.strip():
        return rejected(ledger, "create needs a text")
    if (known := ledger.exact(command.text)) is not None:
        return accepted(ledger, "reinforced", change.confirmed(known, command, now), command, now)
    return accepted(ledger, "created", change.commanded(command, command.text, now), command, now, vector)


def _update(ledger: Ledger, command: Command, vector: Vector | None, now: datetime) -> Outcome:
    memory = ledger.live(command.memory_id)
    if memory is None:
        return rejected(ledger, f"no live memory {command.memory_id} in {ledger.namespace}")
    if command.text is not None and not command.text.strip():
        return rejected(ledger, "the text is empty; delete the memory instead")
    return accepted(ledger, "updated", change.updated(memory, command, now), command, now, vector)


def _delete(ledger: Ledger, command: Command, vector: Vector | None, now: datetime) -> Outcome:
    memory = ledger.find(command.memory_id)
    if memory is None:
        return rejected(ledger, f"no memory {command.memory_id} in {ledger.namespace}")
    return accepted(ledger, "deleted", change.deleted(memory, now), command, now)


ORDERS = {"create": _create, "update": _update, "delete": _delete}


def accepted(
    ledger: Ledger, kind: Change, memory: Memory, command: Command, now: datetime, vector: Vector | None = None
) -> Outcome:
    cause = Cause(actor=command.actor, command_id=command.command_id, reason=command.reason)
    after = ledger.enter(kind, memory, cause, now, vector)
    return Outcome(
        status="accepted",
        namespace=ledger.namespace,
        sequence=ledger.sequence,
        memory_id=after.memory_id,
        change=kind,
    )


def rejected(ledger: Ledger, reason: str) -> Outcome:
    return Outcome(status="rejected", namespace=ledger.namespace, sequence=ledger.sequence, reason=reason)
