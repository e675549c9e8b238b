"""The connection pool, its JSON and text codecs, and the translation of driver errors into memstream's."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import asyncpg
import msgspec

from schemas.codec import encode
from schemas.errors import Misconfigured, Rejected, Retryable

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

    Pool: TypeAlias = asyncpg.Pool[asyncpg.Record]
    Connection: TypeAlias = asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]
else:
    Pool = asyncpg.Pool
    Connection = asyncpg.Connection

PASSING = (
    asyncpg.PostgresConnectionError,
    asyncpg.TransactionRollbackError,  # serialization failures and deadlocks
    asyncpg.OperatorInterventionError,  # shutdown, crash recovery, a cancelled statement
    asyncpg.InsufficientResourcesError,  # too many connections, disk full
    asyncpg.LockNotAvailableError,
    asyncpg.IdleInTransactionSessionTimeoutError,  # this process was paused within a transaction
    asyncpg.InternalClientError,  # what releasing a connection to a server that is shutting down can end in
    OSError,
    TimeoutError,
)
WRONG = (
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.UndefinedTableError,
    asyncpg.InsufficientPrivilegeError,
)

SESSION = {
    # How soon the server lets go of what a peer held that is gone without a word; on TCP connections alone.
    **{"tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "4"},
    # Statements are short: to compile one that the planner thinks expensive takes longer than to run it.
    "jit": "off",
}

# Postgres stores no NUL in text or jsonb; JSON input may carry one, and must not be refused for it.
NUL, REPLACEMENT = "\x00", "\ufffd"
ESCAPED_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")


@contextmanager
def translated(doing: str) -> Iterator[None]:
    """Driver errors as memstream's: `doing` says what was tried, for the message.

    Raises Retryable (lost, busy, timed out, deadlock), Rejected `unstorable` (a value no column takes), Misconfigured.
    """
    try:
        yield
    except PASSING as exc:
        raise Retryable(f"Postgres failed while {doing}: {exc or type(exc).__name__}") from exc
    except asyncpg.InterfaceError as exc:
        if "clos" not in str(exc):  # neither "connection is closed" nor "pool is closing": a mistake in the code
            raise
        raise Retryable(f"Postgres failed while {doing}: {exc}") from exc
    except asyncpg.DataError as exc:
        raise Rejected("unstorable", f"Postgres refused a value while {doing}: {exc}") from exc
    except WRONG as exc:
        raise Misconfigured(f"Postgres refused {doing}: {exc}; check the dsn and run `memstream migrate`") from exc


async def connect(dsn: str, *, min_size: int = 1, max_size: int = 10, command_timeout_s: float = 30.0) -> Pool:
    """A pool whose connections speak JSON through msgspec; a statement that takes longer than the time-out is Retryable."""
    with translated("connecting"):
        return await asyncpg.create_pool(
            dsn,
            min_size=min_size,
            max_size=max_size,
            command_timeout=command_timeout_s,
            init=set_codecs,
            reset=keep_session,
            server_settings=SESSION,
        )


async def keep_session(_: Connection) -> None:
    """To ask for what a session began with would be a second way to the server for each statement. What is left of a transaction
    was rolled back before; who takes a lock of the session, as for a generation, lets go of it."""


async def set_codecs(connection: Connection) -> None:
    """jsonb as Structs or builtins in and builtins out; text without NUL. Arrays of text bypass this: use `storable`."""
    await connection.set_type_codec(
        "jsonb", schema="pg_catalog", format="binary", encoder=encode_jsonb, decoder=decode_jsonb
    )
    await connection.set_type_codec("text", schema="pg_catalog", encoder=storable, decoder=str)


def storable(text: str) -> str:
    """The text with each NUL replaced by U+FFFD."""
    return text.replace(NUL, REPLACEMENT)


def storable_json(data: bytes) -> bytes:
    """The JSON with each NUL in a string replaced by U+FFFD."""
    if b"\\u0000" not in data:  # nearly always; the expression takes many times as long as encoding did
        return data
    return ESCAPED_NUL.sub(rb"\1\\ufffd", data)


def encode_jsonb(value: Any) -> bytes:
    return b"\x01" + storable_json(encode(value))  # 1 is the version of jsonb's binary format


def decode_jsonb(data: bytes) -> Any:
    return msgspec.json.decode(data[1:])  # orjson refuses integers that Postgres and our own writing know
