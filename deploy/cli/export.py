"""`memstream export`: writes the memories of a namespace, or what is stored about a user, as JSON Lines."""

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from agents.api.access import export_audit
from agents.api.access.erasure import erasure_scope
from agents.api.access.user_export import user_export_pages
from agents.api.memories.exports import export_pages
from deploy.cli import terminal
from deploy.cli.command import WrongUsage, command, current_user, one_command, require_length
from deploy.cli.namespace_options import NamespaceArgument, NamespaceOption, one_namespace
from deploy.settings import Settings, load
from deploy.wiring import connections, policy_store
from schemas.conversations.user_settings import User
from schemas.counts import counted
from schemas.errors import Misconfigured
from schemas.memories.memories import Status
from sinks.access.audit import Audit
from sinks.archive.messages import Archive
from sinks.erasure.owners import Owners
from sinks.memories.exports import Exports
from sinks.postgres.connection import Pool

cli = one_command()

STATUSES: tuple[Status, ...] = ("active", "superseded", "expired")


@cli.command()
@command
async def export(
    namespace: NamespaceArgument = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to create; default: stdout.")] = None,
    versions: Annotated[bool, typer.Option(help="Include all versions of each memory.")] = False,
    namespace_option: NamespaceOption = None,
    user: Annotated[str | None, typer.Option(metavar="ID", help="Instead: what is stored about this user.")] = None,
    tenant: Annotated[str | None, typer.Option(metavar="ID", help="Only the user of this tenant.")] = None,
    app: Annotated[str | None, typer.Option(metavar="ID", help="Only the user of this app.")] = None,
) -> None:
    """Write the memories of a namespace, or the data of a user, as JSON Lines.

    Of a namespace: live, superseded and expired memories. Of a user: memories of any status with their versions, and messages.
    The audit log gets an entry.
    """
    about = user_of(user, tenant, app)
    if about is not None and (namespace or namespace_option or versions):
        raise WrongUsage("--user exports all namespaces, with versions: give it without a namespace and --versions")
    name, lines = about.user_id if about else one_namespace(namespace, namespace_option), 0
    with created(output) if output else nullcontext(sys.stdout.buffer) as target:
        settings = load()
        async with connections.postgres(settings, max_size=1) as pool:
            now, actor = datetime.now(UTC), current_user()
            if about is None:
                entry = export_audit.namespace_export(now, actor, name, STATUSES, with_versions=versions)
                pages = export_pages(Exports(pool), name, STATUSES, with_versions=versions)
            else:
                entry = export_audit.user_export(now, actor, about)
                pages = await pages_of_user(settings, pool, about)
            await Audit(pool).record(entry)
            async for page in pages:
                target.write(page)
                lines += page.count(b"\n")
        target.flush()
    terminal.print_error(f"exported {counted(lines, 'memories' if about is None else 'records')} of {name}")


@contextmanager
def created(path: Path) -> Iterator[BinaryIO]:
    """A new file, which is removed if the export fails: half an export looks like a whole one. Raises Misconfigured."""
    try:
        file = path.open("xb")
    except OSError as exc:
        raise Misconfigured(f"cannot create {path}: {exc.strerror}") from exc
    try:
        with file:
            yield file
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def user_of(user_id: str | None, tenant_id: str | None, app_id: str | None) -> User | None:
    """Returns the user that the options name, if any. Raises WrongUsage for an id that no message can have."""
    for value in (user_id, tenant_id, app_id):
        if value is not None:
            require_length(value, "an id")
    if user_id is None and (tenant_id or app_id):
        raise WrongUsage("--tenant and --app qualify --user: give --user")
    return None if user_id is None else User(user_id=user_id, tenant_id=tenant_id, app_id=app_id)


async def pages_of_user(settings: Settings, pool: Pool, user: User) -> AsyncIterator[bytes]:
    """Raises Retryable."""
    policies = policy_store.policies_in_effect(settings, await policy_store.stored_policies(settings))
    scope = await erasure_scope(Owners(pool), policies, user)
    return user_export_pages(Exports(pool), Archive(pool), user, scope)
