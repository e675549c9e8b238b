"""Applies a command within the deciding transaction, and stores its outcome."""

from datetime import datetime

from msgspec.structs import replace

from agents.curation import outcome_records
from agents.curation.ledgers import LiveLimit, close_ledger, open_ledger, same_texts
from agents.curation.rules.commands.apply_command import UndoneChange, apply_command, needs_completion, rejected
from agents.curation.rules.commands.lengths import too_long
from agents.curation.rules.decisions.decision_inputs import DecisionInputs, NeedsCompletion
from agents.curation.rules.decisions.incoming import command_memory_ids
from agents.curation.rules.ledger.outcomes import Outcome
from schemas.memories.commands import Command
from schemas.memories.events import Cause
from schemas.policies.policies import Policy
from sinks.erasure.purges import Purges
from sinks.memories.hidden_messages import HiddenMessages
from sinks.memories.kinds import Kinds
from sinks.memories.reader import Memories
from sinks.memories.settlements import Settlements
from sinks.outbox.projector import put_records
from sinks.postgres.connection import Connection
from streams.windows.tokens.counting import TokenCount


async def decide_command(
    connection: Connection,
    command: Command,
    prepared: DecisionInputs,
    policy: Policy,
    now: datetime,
    embedding_model: str,
    count_tokens: TokenCount,
) -> Outcome:
    """Applies a command that was not applied before, and stores its changes, its outcome, and the event about it.

    An invalid command gets a `rejected` outcome. Raises NeedsInput.
    """
    undone, completed_command = await change_to_undo(connection, command), prepared.completed or command
    text = undone.before.text if undone and undone.before else completed_command.text
    same = await same_texts(connection, command.namespace, [text] if text else [])
    ledger = await open_ledger(
        connection, command.namespace, same, command_memory_ids(completed_command, undone), policy.max_memories
    )
    fenced = (await Purges(connection).fences([command.namespace])).get(command.namespace)
    length_problem = too_long(completed_command, count_tokens)
    may_be_completed = length_problem is None and (fenced is None or command.at > fenced)
    if prepared.completed is None and may_be_completed and needs_completion(ledger, command):
        known = ledger.find_live(command.memory_id)
        raise NeedsCompletion(known.reinforcement_count if known else 0)
    erased = await was_erased(connection, command)
    if (refused := erased or length_problem or kinds_problem(completed_command, policy)) is not None:
        outcome = rejected(ledger, refused)
    else:
        vector = prepared.vector(text) if text else None
        outcome = apply_command(ledger, completed_command, vector, now, undone, fenced)
    if outcome.status == "rejected" and erased is None and await show_hidden_messages(connection, command):
        outcome = Outcome(status="accepted", namespace=command.namespace, sequence=ledger.sequence)
    most = policy.max_memories if outcome.change in ("created", "restored") else None
    limit = LiveLimit(most=most, plan=prepared.plan, spared=outcome.memory_id)
    cause = Cause(actor=command.actor, command_id=command.command_id)
    await close_ledger(connection, ledger, limit, cause, now, embedding_model)
    outcome = replace(outcome, sequence=ledger.sequence, digest=command.digest)
    await _store(connection, command, outcome, now)
    return outcome


async def _store(connection: Connection, command: Command, outcome: Outcome, now: datetime) -> None:
    if outcome.status == "accepted":
        await Kinds(connection).keep(command.namespace, command.new_kinds or (), command.actor, now)
    await Settlements(connection).record_command(command.namespace, command.command_id, outcome, now)
    await put_records(connection, command.namespace, outcome_records.command_records(command, outcome, now))


async def change_to_undo(connection: Connection, command: Command) -> UndoneChange | None:
    """The change that the command undoes: its version, otherwise the latest one. None if there is none."""
    if command.kind != "undo" or command.memory_id is None:
        return None
    memories = Memories(connection)
    found = await memories.version(command.memory_id, command.version)
    if found is None or found.namespace != command.namespace:
        return None
    earlier = None if found.before is None else await memories.version(command.memory_id, found.before.version)
    wish = earlier.cause if earlier is not None and earlier.cause.wish_id is not None else None
    return UndoneChange(found.version, found.before, wish)


async def was_erased(connection: Connection, command: Command) -> str | None:
    """Why an undo of a change of an erased memory is rejected; None for any other command."""
    if command.kind != "undo" or command.memory_id is None:
        return None
    if await Memories(connection).erased_from(command.memory_id) != command.namespace:
        return None
    if await Memories(connection).get(command.memory_id) is not None:  # imported again
        return None
    return f"memory {command.memory_id} was erased: no change of it can be undone"


async def show_hidden_messages(connection: Connection, command: Command) -> bool:
    """Shows the messages again that a wish hid, if the command names such a wish. Returns whether it does."""
    if command.kind != "undo" or command.memory_id is None:
        return False
    return await HiddenMessages(connection).show(command.namespace, command.memory_id)


def kinds_problem(command: Command, policy: Policy) -> str | None:
    """Why the kinds of a command are rejected; None if the policy has them, or allows new ones."""
    if policy.unknown_kinds == "create":
        return None
    unknown = [kind.name for kind in command.new_kinds or () if kind.name not in policy.kinds]
    if not unknown:
        return None
    return f"the policy {policy.name!r} has no kind {unknown[0]!r} and does not allow new ones (`unknown_kinds`)"
