"""Turns a requested change into a command, waits for its outcome with a time limit, and builds the response."""

from hashlib import blake2b, sha256
from typing import Annotated, Any, Literal, TypeAlias
from urllib.parse import quote
from uuid import uuid4

from fastapi import Header, Response
from msgspec import Struct

from agents.api.access.callers import Caller
from agents.api.http.json_bodies import json_response
from agents.api.http.problems import Problem, conflict
from agents.api.memories.commands import status_path
from agents.api.memories.views import MemoryView, etag, memory_view
from agents.api.ports import Ports
from agents.curation.eraser import erasure_id
from agents.curation.rules.ledger.outcomes import ErasedMemory, Outcome
from schemas import codec, ids
from schemas.memories.commands import Command
from schemas.memories.memories import Change, Memory

RETRY_AFTER_S = 1

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=256,
        description="Any text. Requests with the same key are applied once.",
    ),
]


CommandKind: TypeAlias = Literal["create", "update", "delete", "undo", "erase", "purge", "uninstall"]


class CommandResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of a change. `status` is `accepted` (with the current memory), `rejected` (with the reason) or `pending`
    (poll `/v1/commands/{command_id}`). `sequence` is the namespace's sequence number after the change. For an erased
    namespace, `/v1/erasures/{erasure_id}` returns the receipt; for an erased memory, `erased` says what was deleted and what
    remains."""

    command_id: str
    namespace: str
    status: Literal["accepted", "rejected", "pending"]
    change: Change | None = None
    memory_id: str | None = None
    sequence: int | None = None
    reason: str | None = None
    memory: MemoryView | None = None
    erasure_id: str | None = None
    erased: ErasedMemory | None = None


def build_command(
    ports: Ports, caller: Caller, kind: CommandKind, namespace: str, key: str | None, **fields: Any
) -> Command:
    """Builds the command of a request. With an idempotency key, the command id derives from the key, the caller, the kind of
    change, the namespace and the memory, so a repeated request has the same id."""
    subject = fields.get("memory_id", "")
    derived = ids.derive("asked", caller.key_id, kind, namespace, subject, key)
    return Command(
        command_id=str(uuid4()) if key is None else derived,
        kind=kind,
        namespace=namespace,
        at=ports.clock(),
        actor=caller.actor,
        digest=None if key is None else digest(key, fields),
        **fields,
    )


def digest(key: str, fields: Any) -> str:
    """Returns a digest of the request, to detect a different request under the same idempotency key. It is keyed with the
    idempotency key, which is not stored, so stored digests do not reveal the request."""
    return blake2b(
        codec.encode(fields), digest_size=16, key=sha256(key.encode(errors="surrogatepass")).digest()
    ).hexdigest()


async def earlier_answer(ports: Ports, command: Command, key: str | None) -> Response | None:
    """Returns the response to an earlier request with the same idempotency key if its command was applied, otherwise None."""
    outcome = await ports.commands.outcome(command.namespace, command.command_id) if key is not None else None
    return None if outcome is None else await outcome_response(ports, command, outcome)


async def send_and_answer(ports: Ports, command: Command) -> Response:
    """Sends the command and returns the response. Raises Problem 409 or 412 for a rejected command, Problem 422 for a reused
    idempotency key, Retryable, and Rejected."""
    return await outcome_response(ports, command, await ports.commands.send_and_wait(command))


async def apply_change(
    ports: Ports, caller: Caller, kind: CommandKind, namespace: str, key: str | None, **fields: Any
) -> Response:
    """Applies a change to a namespace, at most once per idempotency key. Raises as `send_and_answer`."""
    command = build_command(ports, caller, kind, namespace, key, **fields)
    return await earlier_answer(ports, command, key) or await send_and_answer(ports, command)


async def outcome_response(ports: Ports, command: Command, outcome: Outcome | None) -> Response:
    if outcome is None:
        headers = {"Location": status_path(command), "Retry-After": str(RETRY_AFTER_S)}
        pending = CommandResult(command_id=command.command_id, namespace=command.namespace, status="pending")
        return json_response(pending, 202, headers)
    if None not in (command.digest, outcome.digest) and command.digest != outcome.digest:
        raise key_reused()
    if outcome.status == "rejected":
        raise await rejection(ports, command, outcome)
    memory, created = await changed_memory(ports, outcome), outcome.change == "created"
    return json_response(
        command_result(command.command_id, outcome, memory), 201 if created else 200, headers_of(memory)
    )


async def rejection(ports: Ports, command: Command, outcome: Outcome) -> Problem:
    memory = await ports.stored.get(command.memory_id) if command.memory_id and command.if_version else None
    if memory is not None and memory.version != command.if_version:
        return version_outdated(memory)
    return conflict(outcome.reason or "the command was rejected")


def key_reused() -> Problem:
    return Problem(
        422,
        "idempotency-key-reused",
        "this Idempotency-Key was used for a different request: choose a new key",
    )


def version_outdated(memory: Memory) -> Problem:
    return Problem(
        412,
        "precondition-failed",
        f"memory {memory.memory_id!r} is at version {memory.version}: read it again and retry",
        {"ETag": etag(memory, "full")},
    )


async def changed_memory(ports: Ports, outcome: Outcome) -> Memory | None:
    """Returns the current state of the memory that the command changed; None if it is deleted, or if an import moved it to
    another namespace."""
    memory = await ports.stored.get(outcome.memory_id) if outcome.memory_id else None
    if memory is None or memory.status == "deleted" or memory.namespace != outcome.namespace:
        return None
    return memory


def command_result(command_id: str, outcome: Outcome, memory: Memory | None) -> CommandResult:
    is_purge = outcome.change == "purged" and outcome.memory_id is None
    return CommandResult(
        command_id=command_id,
        namespace=outcome.namespace,
        status="rejected" if outcome.status == "rejected" else "accepted",
        change=outcome.change,
        memory_id=outcome.memory_id,
        sequence=outcome.sequence,
        reason=outcome.reason,
        memory=None if memory is None else memory_view(memory, "full"),
        erasure_id=erasure_id(outcome.namespace, command_id) if is_purge else None,
        erased=outcome.erased,
    )


def headers_of(memory: Memory | None) -> dict[str, str]:
    if memory is None:
        return {}
    return {"ETag": etag(memory, "full"), "Location": f"/v1/memories/{quote(memory.memory_id, safe='')}"}
