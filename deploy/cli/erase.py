"""`memstream erase`: a user, a conversation or a namespace, everywhere, with a receipt; and receipts of before."""

import getpass
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Final
from uuid import uuid4

import typer
from msgspec import Struct

from agents.erasure.affected_namespaces import plan_erasure
from agents.erasure.begin import ErasureService
from deploy.cli import policy_store, terminal
from deploy.cli.command import Json, command, one_command
from deploy.settings import Settings, load
from deploy.wiring import connections
from deploy.wiring.message_ends import message_ends
from schemas.conversations.messages import Scope
from schemas.erasure.erasures import Erasure, ErasureKind
from schemas.erasure.receipts import Receipt
from schemas.errors import Misconfigured
from schemas.policies.namespaces import quote_part
from sinks.archive.messages import Archive
from sinks.erasure.erasures import Erasures, PlannedNamespace
from sinks.erasure.owners import Owners, User
from sinks.postgres.connection import Pool
from sinks.windows.projection import Windows

cli = one_command()

LONGEST: Final = 256


class PlannedErasure(Struct, frozen=True, kw_only=True):
    """What would be done with a namespace, and what it holds."""

    namespace: str
    how: str
    held: dict[str, int]


@cli.command()
@command
async def erase(
    user: Annotated[str | None, typer.Option(metavar="ID", help="The user to erase.")] = None,
    tenant: Annotated[str | None, typer.Option(metavar="ID", help="Only the user of that tenant.")] = None,
    app: Annotated[str | None, typer.Option(metavar="ID", help="Only the user of that app.")] = None,
    conversation: Annotated[str | None, typer.Option(metavar="ID", help="The conversation to erase.")] = None,
    namespace: Annotated[str | None, typer.Option(metavar="NAME", help="The namespace to erase.")] = None,
    receipt: Annotated[str | None, typer.Option(metavar="ID", help="Only show the receipt of an erasure.")] = None,
    reason: Annotated[str | None, typer.Option(help="Kept with the receipt and in the audit.")] = None,
    wait: Annotated[float, typer.Option(min=0, help="How many seconds to wait for the end.")] = 60.0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go, and do nothing.")] = False,
    json: Json = False,
) -> int:
    """Erase a user, a conversation or a namespace everywhere, and show the receipt.

    Workers have to run. Exit code 1 when it is not complete in time: it goes on, and --receipt shows it again.
    """
    settings = load()
    subject = meant(user, tenant, app, conversation, namespace, receipt)
    async with connections.postgres(settings, max_size=2) as pool:
        if dry_run:
            for each in await planned_erasures(settings, pool, subject):
                print_plan(each, json)
            return 0
        erasing = ErasureService(Erasures(pool), partial(message_ends, settings), lambda: datetime.now(UTC))
        erasure_id = receipt or str(uuid4())
        if receipt is None:
            await erasing.begin(erasure_id, kind_of(subject), who(), reason, **subject)
        shown = await erasing.receipt(erasure_id, 0.0 if receipt else wait)
    if shown is None:
        raise Misconfigured(f"there is no erasure {erasure_id}")
    say(shown, json)
    return 0 if shown.status == "complete" else 1


def meant(
    user: str | None,
    tenant: str | None,
    app: str | None,
    conversation: str | None,
    namespace: str | None,
    receipt: str | None,
) -> dict[str, str | None]:
    """The fields of an erasure. Raises Misconfigured unless exactly one is named."""
    if [user, conversation, namespace, receipt].count(None) != 3:
        raise Misconfigured("say whom or what: one of --user, --conversation, --namespace, --receipt")
    if (tenant or app) and user is None:
        raise Misconfigured("--tenant and --app say which user is meant: give --user")
    for value in (user, tenant, app, conversation, namespace):
        if value is not None and not 0 < len(value) <= LONGEST:
            raise Misconfigured(f"{value[:40]!r} has {len(value)} characters: an id has 1 to {LONGEST}")
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
    """By the policies as they are. Raises Retryable."""
    owners = Owners(pool)
    found = await plans(settings, pool, owners, subject)
    held = await owners.stored_counts([each.namespace for each in found])
    return [PlannedErasure(namespace=each.namespace, how=each.how, held=held[each.namespace]) for each in found]


async def plans(
    settings: Settings, pool: Pool, owners: Owners, subject: dict[str, str | None]
) -> list[PlannedNamespace]:
    if subject["namespace"] is not None:
        return [PlannedNamespace(subject["namespace"], "purge", "")]
    said: dict[str, Any] = subject | {"erasure_id": "-", "at": datetime.now(UTC), "actor": who()}
    erasure = Erasure(kind=kind_of(subject), **said)
    policies = policy_store.applying(settings, await policy_store.stored(settings))
    if erasure.user_id is not None:
        user = User(user_id=erasure.user_id, tenant_id=erasure.tenant_id, app_id=erasure.app_id)
        scopes, named = await owners.scopes(user), await owners.all_namespaces_naming(quote_part(user.user_id))
        fed = await owners.namespaces_fed({scope.conversation_id for scope in scopes})
        return plan_erasure(erasure, scopes, fed, named, policies)
    name = erasure.conversation_id or ""
    state = await Windows(pool).of(name)
    known = (state.scope,) if state is not None else ()
    archived = await Archive(pool).scopes(name)
    return plan_erasure(erasure, (*archived, *known, Scope(conversation_id=name)), (), (), policies)


def print_plan(each: PlannedErasure, json: bool) -> None:
    if json:
        terminal.print_json(each)
        return
    what = "would be erased" if each.how == "purge" else "would lose what came of these conversations alone"
    held = ", ".join(f"{count} {name}" for name, count in each.held.items() if count) or "nothing"
    terminal.print_line(f"{each.namespace} {what}; it holds {held}")


def say(receipt: Receipt, json: bool) -> None:
    """One line; the whole of it as JSON."""
    if json:
        terminal.print_json(receipt)
        return
    subject = " ".join(f"{name.removesuffix('_id')} {value}" for name, value in receipt.subject.items())
    gone: dict[str, int] = {}
    for store in receipt.stores:
        for name, count in store.removed.items():
            gone[name] = gone.get(name, 0) + count
    counted = (
        ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in gone.items() if count) or "nothing was there"
    )
    ends = [each.until for each in receipt.remains if each.until is not None]
    last = f"; Kafka's input and events are gone by {max(ends):%Y-%m-%d}" if ends else ""
    terminal.print_line(f"{receipt.erasure_id} {receipt.status}: {subject}: {counted}{last}")


def who() -> str:
    """Who is at the command line, for the audit."""
    return f"{getpass.getuser()} at the command line"
