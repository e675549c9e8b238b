"""`memstream keys`: keys of the API, made, listed and revoked; every use of this is in the audit."""

import getpass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

import typer
from msgspec import to_builtins

from deploy.cli import terminal
from deploy.cli.command import Json, command, several_commands
from deploy.settings import load
from deploy.wiring import connections
from schemas.access.keys import EVERYWHERE, Grant, Key, Right
from schemas.errors import Misconfigured
from sinks.access.audit import Audit, Audited
from sinks.access.keys import Keys

cli = several_commands("Manage the API's keys and their rights in namespaces.")

LONGEST: Final = 256

Pattern = "Namespaces to {}, such as 'app/*'; may be repeated."
Read = Annotated[list[str] | None, typer.Option(help=Pattern.format("read in"))]
Write = Annotated[list[str] | None, typer.Option(help=Pattern.format("write in, which includes reading"))]
Admin = Annotated[list[str] | None, typer.Option(help=Pattern.format("administer, which includes the others"))]


@cli.command()
@command
async def create(
    name: Annotated[str, typer.Argument(help="What it is for; it is told in versions and in the audit.")],
    read: Read = None,
    write: Write = None,
    admin: Admin = None,
    days: Annotated[int | None, typer.Option(min=1, max=36_500, help="After which it expires; default never.")] = None,
    json: Json = False,
) -> None:
    """Create a key and print it. memstream stores only its hash, so it cannot be shown again."""
    grants = granted(name, {"read": read or [], "write": write or [], "admin": admin or []})
    now = datetime.now(UTC)
    async with connections.postgres(load(), max_size=1) as pool:
        token, key = await Keys(pool).create(name, grants, now, who(), now + timedelta(days=days) if days else None)
    if json:
        terminal.print_json({"key": token} | to_builtins(key))
    else:
        terminal.print_line(token)
        terminal.print_error(f"{key.key_id} ({name}) {key_line(key)}; this is the only time that the key is shown")


@cli.command("list")
@command
async def list_keys(json: Json = False) -> None:
    """List keys, revoked and expired ones too; never the keys themselves."""
    async with connections.postgres(load(), max_size=1) as pool:
        keys = await Keys(pool).all()
    now = datetime.now(UTC)

    def row(key: Key) -> tuple[str, ...]:
        return key.key_id, key.name, key_line(key), state(key, now), moment(key.last_used_at)

    terminal.show_list(keys, json, "keys", ("id", "name", "may", "state", "last used"), row, wide="may")


@cli.command()
@command
async def revoke(
    key: Annotated[str, typer.Argument(help="Its id or its name.")],
    json: Json = False,
) -> None:
    """Revoke a key. It stops working within seconds."""
    async with connections.postgres(load(), max_size=1) as pool:
        gone = await Keys(pool).revoke(key, datetime.now(UTC), who())
    if json:
        terminal.print_json(gone)
    else:
        terminal.print_line(f"revoked {gone.key_id} ({gone.name})")


@cli.command()
@command
async def audit(
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many at most.")] = 50, json: Json = False
) -> None:
    """Show the audit log of administrators' actions, the latest first."""
    async with connections.postgres(load(), max_size=1) as pool:
        latest = await Audit(pool).latest(limit)
    terminal.show_list(latest, json, "audit", ("when", "who", "did", "to"), audit_row, wide="to")


def audit_row(done: Audited) -> tuple[str, ...]:
    return moment(done.at), done.actor, done.action, done.subject


def granted(name: str, patterns: dict[Right, list[str]]) -> tuple[Grant, ...]:
    """Raises Misconfigured for a name or a pattern that cannot be one, and for a key that may do nothing."""
    grants = tuple(Grant(right, pattern) for right, each in patterns.items() for pattern in each)
    if not grants:
        raise Misconfigured(
            f"the key would open nothing: name namespaces, such as --read 'app/*' or --admin '{EVERYWHERE}'"
        )
    for text in (name, *(grant.namespaces for grant in grants)):
        if not 0 < len(text) <= LONGEST:
            raise Misconfigured(f"{text[:40]!r} has {len(text)} characters: a name or a pattern has 1 to {LONGEST}")
    return grants


def key_line(key: Key) -> str:
    return ", ".join(f"{grant.right} {grant.namespaces}" for grant in key.grants)


def state(key: Key, now: datetime) -> str:
    if key.revoked_at is not None:
        return f"revoked {moment(key.revoked_at)}"
    if not key.is_valid(now):
        return f"expired {moment(key.expires_at)}"
    return f"until {moment(key.expires_at)}" if key.expires_at else "valid"


def moment(at: datetime | None) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M}" if at else "never"


def who() -> str:
    """Whoever is at the command line, as the machine knows them."""
    return f"{getpass.getuser()} at the command line"
