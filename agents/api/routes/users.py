"""Erasing a user everywhere, with a receipt."""

from typing import Annotated
from uuid import uuid4

from fastapi import APIRouter, Depends, Response
from msgspec import Meta

from agents.api.auth import CallerOf
from agents.api.bodies import answer, described, takes
from agents.api.callers import Caller
from agents.api.erasing import ErasedNamespace, Receipt, SharedNamespace, concerned
from agents.api.ports import Ports, PortsOf
from schemas.requests import Command
from sinks.audit import Audited
from sinks.owners import User

router = APIRouter(prefix="/v1/users", tags=["namespaces"])


class ErasedUser(User, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who is to be erased, and why."""

    reason: Annotated[str, Meta(max_length=4_000)] | None = None


@router.post(
    "/purge", openapi_extra=described(Receipt, takes=ErasedUser, alike={202: "Some of it is still to be done."})
)
async def purge_user(
    wanted: Annotated[ErasedUser, Depends(takes(ErasedUser))], caller: CallerOf, ports: PortsOf
) -> Response:
    """Erase a user for good: every namespace that is theirs alone, with memories, versions, vectors, cached answers, parked
    requests and archived messages. The receipt says what went, and what does not.

    It needs every right in all namespaces concerned, those that the user shares with others too.
    """
    user = User(user_id=wanted.user_id, tenant_id=wanted.tenant_id, app_id=wanted.app_id)
    found = await concerned(ports.owners, ports.policies, user)
    if not (found.own or found.shared):
        caller.require_everywhere("admin")  # whether somebody is known here is nobody else's business
    for namespace in (*found.own, *found.shared):
        caller.require("admin", namespace)
    at, said = ports.clock(), await ports.owners.said(user)
    sharing = tuple([await shared(ports, name, found.conversations) for name in found.shared])  # before anything goes
    details = {"namespaces": found.own, "reason": wanted.reason}
    await ports.audit.record(
        Audited(at=at, actor=caller.actor, action="user.purge", subject=user.user_id, details=details)
    )
    receipt = Receipt(
        user=user,
        at=at,
        whole=found.whole,
        erased=await erased(ports, caller, found.own, wanted.reason),
        said=said,
        left=await ports.owners.said(user),
        shared=sharing,
    )
    return answer(receipt, 202 if any(each.status == "pending" for each in receipt.erased) else 200)


async def erased(
    ports: Ports, caller: Caller, namespaces: tuple[str, ...], reason: str | None
) -> tuple[ErasedNamespace, ...]:
    """All are told to go before any is waited for: whatever their number, none is left unsaid for want of time."""
    held = await ports.owners.held_in(namespaces)
    commands = [
        Command(
            command_id=str(uuid4()),
            kind="purge",
            namespace=namespace,
            at=ports.clock(),
            actor=caller.actor,
            reason=reason,
        )
        for namespace in namespaces
    ]
    outcomes = await ports.commands.all_carried_out(commands)
    left = await ports.owners.held_in(namespaces)
    return tuple(
        ErasedNamespace(
            namespace=command.namespace,
            command_id=command.command_id,
            status="pending" if outcome is None else "rejected" if outcome.status == "rejected" else "accepted",
            held=held[command.namespace],
            left=left[command.namespace],
        )
        for command, outcome in zip(commands, outcomes, strict=True)
    )


async def shared(ports: Ports, namespace: str, conversations: tuple[str, ...]) -> SharedNamespace:
    memories = await ports.owners.from_conversations(namespace, conversations)
    return SharedNamespace(namespace=namespace, memories=memories)
