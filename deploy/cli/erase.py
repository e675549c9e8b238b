"""`memstream erase`: erases a user, a conversation, a namespace or a memory everywhere, and shows receipts."""

from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any
from uuid import uuid4

import typer
from msgspec import Struct

from agents.erasure.affected_namespaces import plan_erasure
from agents.erasure.begin import ErasureService
from deploy.cli import terminal
from deploy.cli.command import Json, WrongUsage, command, current_user, one_command, require_length
from deploy.cli.erase_memory import erase_memory, plan_memory
from deploy.settings import Settings, load
from deploy.wiring import connections, policy_store
from deploy.wiring.message_ends import message_ends
from schemas.conversations.messages import Scope
from schemas.conversations.user_settings import User
from schemas.counts import counted
from schemas.erasure.erasures import Erasure, ErasureKind
from schemas.erasure.receipts import Receipt
from schemas.errors import Misconfigured
from schemas.policies.namespaces import quote_part
from sinks.archive.messages import Archive
from sinks.erasure.erasures import Erasures, PlannedNamespace
from sinks.erasure.owners import Owners
from sinks.postgres.connection import Pool
from sinks.windows.projection import Windows

cli = one_command()


class PlannedErasure(Struct, frozen=True, kw_only=True):
    """The planned action on a namespace (`how`), and the row counts of its data (`held`)."""

    namespace: str
    how: str
    held: dict[str, int]


@cli.command()
@command
async def erase(
    user: Annotated[str | None, typer.Option(metavar="ID", help="The user to erase.")] = None,
    tenant: Annotated[str | None, typer.Option(metavar="ID", help="Only the user of this tenant.")] = None,
    app: Annotated[str | None, typer.Option(metavar="ID", help="Only the user of this app.")] = None,
    conversation: Annotated[str | None, typer.Option(metavar="ID", help="The conversation to erase.")] = None,
    namespace: Annotated[str | None, typer.Option(metavar="NAME", help="The namespace to erase.")] = None,
    memory: Annotated[str | None, typer.Option(metavar="ID", help="The single memory to erase.")] = None,
    keep_messages: Annotated[
        bool, typer.Option("--keep-messages", help="Let searches still find the source messages of the memory.")
    ] = False,
    receipt: Annotated[
        str | None, typer.Option(metavar="ID", help="Show the receipt of this erasure; erase nothing.")
    ] = None,
    reason: Annotated[str | None, typer.Option(help="Stored in the receipt and in the audit log.")] = None,
    wait: Annotated[float, typer.Option(min=0, help="Maximum wait in seconds.")] = 60.0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be erased; erase nothing.")] = False,
    json: Json = False,
) -> int:
    """Erase a user, a conversation, a namespace or a memory everywhere, and show the receipt.

    Workers must be running. Exit code 1 if the erasure is not complete in time; it continues, and --receipt shows its state.
    """
    settings = load()
    subject = subject_of(user, tenant, app, conversation, namespace, memory, receipt)
    if keep_messages and memory is None:
        raise WrongUsage("--keep-messages qualifies --memory: give --memory")
    async with connections.postgres(settings, max_size=2) as pool:
        if memory is not None and dry_run:
            return await plan_memory(pool, memory, json)
        if memory is not None:
            fields = {"keep_messages": keep_messages, "reason": reason}
            return await erase_memory(settings, pool, memory, wait, json, **fields)
        if dry_run:
            planned = await planned_erasures(settings, pool, subject)
            for each in planned:
                print_plan(each, json)
            if not (planned or json):
                terminal.print_line("no namespace would lose anything")
            return 0
        service = ErasureService(Erasures(pool), partial(message_ends, settings), lambda: datetime.now(UTC))
        erasure_id = receipt or str(uuid4())
        if receipt is None:
            await service.begin(erasure_id, kind_of(subject), current_user(), reason, **subject)
        shown = await service.receipt(erasure_id, 0.0 if receipt else wait)
    if shown is None:
        raise Misconfigured(f"there is no erasure {erasure_id}")
    print_receipt(shown, json)
    return 0 if shown.status == "complete" else 1


def subject_of(
    user: str | None,
    tenant: str | None,
    app: str | None,
    conversation: str | None,
    namespace: str | None,
    memory: str | None,
    receipt: str | None,
) -> dict[str, str | None]:
    """Returns the subject of the erasure. Raises WrongUsage unless the options name exactly one."""
    if [user, conversation, namespace, memory, receipt].count(None) != 4:
        raise WrongUsage("give exactly one of --user, --conversation, --namespace, --memory, --receipt")
    if (tenant or app) and user is None:
        raise WrongUsage("--tenant and --app qualify --user: give --user")
    for value in (user, tenant, app, conversation, namespace, memory):
        if value is not None:
            require_length(value, "an id")
    return {
        "user_id": user,
        "tenant_id": tenant,
        "app_id": app,
        "conversation_id": conversation,
        "namespace": namespace,
    }


def kind_of(subject: dict[str, str | None]) -> ErasureKind:
    if subject["user_id"] is not None:
        return "user"
    return "conversation" if subject["conversation_id"] is not None else "namespace"


async def planned_erasures(settings: Settings, pool: Pool, subject: dict[str, str | None]) -> list[PlannedErasure]:
    """Plans the erasure under the current policies. Raises Retryable."""
    owners = Owners(pool)
    found = await plans(settings, pool, owners, subject)
    held = await owners.stored_counts([each.namespace for each in found])
    return [PlannedErasure(namespace=each.namespace, how=each.how, held=held[each.namespace]) for each in found]


async def plans(
    settings: Settings, pool: Pool, owners: Owners, subject: dict[str, str | None]
) -> list[PlannedNamespace]:
    if subject["namespace"] is not None:
        return [PlannedNamespace(subject["namespace"], "purge", "")]
    fields: dict[str, Any] = subject | {"erasure_id": "-", "at": datetime.now(UTC), "actor": current_user()}
    erasure = Erasure(kind=kind_of(subject), **fields)
    policies = policy_store.policies_in_effect(settings, await policy_store.stored_policies(settings))
    if erasure.user_id is not None:
        user = User(user_id=erasure.user_id, tenant_id=erasure.tenant_id, app_id=erasure.app_id)
        conversations = await owners.conversations(user)
        scopes, namespaces = await owners.scopes(conversations), await owners.namespaces_fed(conversations)
        own_namespaces = await owners.all_namespaces_naming(quote_part(user.user_id))
        return plan_erasure(erasure, scopes, namespaces, own_namespaces, policies)
    name = erasure.conversation_id or ""
    state = await Windows(pool).of(name)
    window_scopes = (state.scope,) if state is not None else ()
    archived = await Archive(pool).scopes(name)
    return plan_erasure(erasure, (*archived, *window_scopes, Scope(conversation_id=name)), (), (), policies)


def print_plan(each: PlannedErasure, json: bool) -> None:
    if json:
        terminal.print_json(each)
        return
    what = (
        "would be erased" if each.how == "purge" else "would lose memories whose only sources are these conversations"
    )
    held = ", ".join(counted(count, name) for name, count in each.held.items() if count) or "nothing"
    terminal.print_line(f"{each.namespace} {what}; it holds {held}")


def print_receipt(receipt: Receipt, json: bool) -> None:
    """Prints the receipt: a summary on one line, or the whole receipt as JSON."""
    if json:
        terminal.print_json(receipt)
        return
    subject = " ".join(f"{name.removesuffix('_id')} {value}" for name, value in receipt.subject.items())
    removed: dict[str, int] = {}
    for store in receipt.stores:
        for name, count in store.removed.items():
            removed[name] = removed.get(name, 0) + count
    none = "nothing found: check the id" if receipt.nothing_found else "nothing removed"
    summary = ", ".join(counted(count, name.replace("_", " ")) for name, count in removed.items() if count) or none
    ends = [each.until for each in receipt.remains if each.until is not None]
    last = f"; Kafka deletes its input and events by {max(ends):%Y-%m-%d}" if ends else ""
    terminal.print_line(f"{receipt.erasure_id} {receipt.status}: {subject}: {summary}{last}")
