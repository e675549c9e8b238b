"""`memstream keys`: creates, lists and revokes API keys, and shows the audit log."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from msgspec import to_builtins

from deploy.cli import terminal
from deploy.cli.command import Json, WrongUsage, command, current_user, require_length, several_commands
from deploy.settings import load
from deploy.wiring import connections
from schemas.access.keys import EVERYWHERE, Grant, Key, Right
from sinks.access.audit import Audit, Audited
from sinks.access.keys import Keys

cli = several_commands("Manage the API's keys and their rights in namespaces.")


Pattern = "Namespaces to {}, such as 'app/*'; may be repeated."
Read = Annotated[list[str] | None, typer.Option(help=Pattern.format("read in"))]
Write = Annotated[list[str] | None, typer.Option(help=Pattern.format("write in, which includes reading"))]
Admin = Annotated[list[str] | None, typer.Option(help=Pattern.format("administer, which includes the others"))]


@cli.command()
@command
async def create(
    name: Annotated[str, typer.Argument(help="The key's name, shown in memory versions and in the audit log.")],
    read: Read = None,
    write: Write = None,
    admin: Admin = None,
    days: Annotated[
        int | None, typer.Option(min=1, max=36_500, help="Days until the key expires; default: never.")
    ] = None,
    json: Json = False,
) -> None:
    """Create a key and print it. It cannot be shown again: memstream stores only its hash."""
    grants = parse_grants(name, {"read": read or [], "write": write or [], "admin": admin or []})
    now = datetime.now(UTC)
    async with connections.postgres(load(), max_size=1) as pool:
        token, key = await Keys(pool).create(
            name, grants, now, current_user(), now + timedelta(days=days) if days else None
        )
    if json:
        terminal.print_json({"key": token} | to_builtins(key))
    else:
        terminal.print_line(token)
        terminal.print_error(f"{key.key_id} ({name}) {key_line(key)}; the key cannot be shown again")


@cli.command("list")
@command
async def list_keys(json: Json = False) -> None:
    """List keys, including revoked and expired ones, without their tokens."""
    async with connections.postgres(load(), max_size=1) as pool:
        keys = await Keys(pool).all()
    now = datetime.now(UTC)

    def row(key: Key) -> tuple[str, ...]:
        return key.key_id, key.name, key_line(key), state(key, now), format_time(key.last_used_at)

    terminal.show_list(keys, json, "keys", ("id", "name", "rights", "state", "last used"), row, wide="rights")


@cli.command()
@command
async def revoke(
    key: Annotated[str, typer.Argument(help="The key's id or name.")],
    json: Json = False,
) -> None:
    """Revoke a key. It stops working within seconds."""
    async with connections.postgres(load(), max_size=1) as pool:
        revoked = await Keys(pool).revoke(key, datetime.now(UTC), current_user())
    if json:
        terminal.print_json(revoked)
    else:
        terminal.print_line(f"revoked {revoked.key_id} ({revoked.name})")


@cli.command()
@command
async def audit(
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of entries.")] = 50, json: Json = False
) -> None:
    """Show the audit log (actions of administrators, erasures, exports), latest first."""
    async with connections.postgres(load(), max_size=1) as pool:
        latest = await Audit(pool).latest(limit)
    terminal.show_list(latest, json, "audit", ("at", "actor", "action", "subject"), audit_row, wide="subject")


def audit_row(entry: Audited) -> tuple[str, ...]:
    return format_time(entry.at), entry.actor, entry.action, entry.subject


def parse_grants(name: str, patterns: dict[Right, list[str]]) -> tuple[Grant, ...]:
    """Returns the grants of a key. Raises WrongUsage for an invalid name or pattern, and without any pattern."""
    grants = tuple(Grant(right, pattern) for right, each in patterns.items() for pattern in each)
    if not grants:
        raise WrongUsage(f"the key has no rights: give namespaces, such as --read 'app/*' or --admin '{EVERYWHERE}'")
    for text in (name, *(grant.namespaces for grant in grants)):
        require_length(text, "a name or a pattern")
    return grants


def key_line(key: Key) -> str:
    return ", ".join(f"{grant.right} {grant.namespaces}" for grant in key.grants)


def state(key: Key, now: datetime) -> str:
    if key.revoked_at is not None:
        return f"revoked {format_time(key.revoked_at)}"
    if not key.is_valid(now):
        return f"expired {format_time(key.expires_at)}"
    return f"until {format_time(key.expires_at)}" if key.expires_at else "valid"


def format_time(at: datetime | None) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M}" if at else "never"
