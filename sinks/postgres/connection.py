"""The connection pool, its JSON and text codecs, and the translation of driver errors into memstream's."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import asyncpg
import msgspec

from schemas.codec import encode, without_nul
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
    asyncpg.InvalidCachedStatementError,  # a migration has changed a table; asyncpg prepares its statements again
    asyncpg.InternalClientError,  # may be raised when a connection to a stopping server is released
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
    # How soon the server releases locks of a client that vanished; on TCP connections only.
    **{"tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "4"},
    # Without JIT: statements are short, and compiling one takes longer than running it.
    "jit": "off",
}

# The server reports these settings by itself (libpq, "GUC_REPORT").
READ_ONLY = ("default_transaction_read_only", "in_hot_standby")

# Passes after a failover, and once a managed server's disk has room again; the other causes stay.
READ_ONLY_SESSION = (
    "the session is read-only: MEMSTREAM_POSTGRES_DSN names a standby, the disk is full, or "
    "`default_transaction_read_only` is on for the server, the database or the role"
)

# PostgreSQL cannot store NUL in text or jsonb; JSON input with NUL must not be rejected.
NUL, REPLACEMENT = "\x00", "\ufffd"


@contextmanager
def translated(action: str) -> Iterator[None]:
    """Translates driver errors; `action` names the attempted action for the message.

    Raises Retryable (lost, busy, timed out, deadlock), Rejected `unstorable` (a value that no column takes), or
    Misconfigured.
    """
    try:
        yield
    except asyncpg.ReadOnlySQLTransactionError as exc:
        raise Retryable(f"PostgreSQL refused a write while {action}: {READ_ONLY_SESSION}") from exc
    except PASSING as exc:
        raise Retryable(f"PostgreSQL failed while {action}: {exc or type(exc).__name__}") from exc
    except asyncpg.InterfaceError as exc:
        if "clos" not in str(exc):  # neither "connection is closed" nor "pool is closing": a programming error
            raise
        raise Retryable(f"PostgreSQL failed while {action}: {exc}") from exc
    except asyncpg.DataError as exc:
        reason = "a time outside the years 1 to 9999 of UTC" if "date value out of range" in str(exc) else str(exc)
        raise Rejected("unstorable", f"PostgreSQL refused a value while {action}: {reason}") from exc
    except WRONG as exc:
        raise Misconfigured(f"PostgreSQL refused {action}: {exc}; check the dsn and run `memstream migrate`") from exc


async def connect(dsn: str, *, min_size: int = 1, max_size: int = 10, command_timeout_s: float = 30.0) -> Pool:
    """A connection pool with JSON through msgspec. A statement that exceeds the time-out raises Retryable."""
    with translated("connecting"):
        return await asyncpg.create_pool(
            dsn,
            min_size=min_size,
            max_size=max_size,
            command_timeout=command_timeout_s,
            init=set_codecs,
            reset=keep_writable,
            server_settings=SESSION,
        )


async def keep_writable(connection: Connection) -> None:
    """Keeps session settings instead of resetting them, which would cost a round trip per statement. Transactions are rolled
    back already, and holders of session locks, such as of a generation, release them.

    Closes a session that began read-only: it would stay so, also where a new one may write.
    """
    settings = connection.get_settings()
    if "on" in (getattr(settings, name, None) for name in READ_ONLY):
        await connection.close()


async def set_codecs(connection: Connection) -> None:
    """jsonb takes Structs or builtins and returns builtins; text loses NUL. Arrays of text bypass this: use `storable`."""
    await connection.set_type_codec(
        "jsonb", schema="pg_catalog", format="binary", encoder=encode_jsonb, decoder=decode_jsonb
    )
    await connection.set_type_codec("text", schema="pg_catalog", encoder=storable, decoder=str)


def storable(text: str) -> str:
    """The text with each NUL replaced by U+FFFD."""
    return text.replace(NUL, REPLACEMENT)


def encode_jsonb(value: Any) -> bytes:
    return b"\x01" + without_nul(encode(value))  # 1 is the version of jsonb's binary format


def decode_jsonb(data: bytes) -> Any:
    return msgspec.json.decode(data[1:])  # orjson rejects large integers that PostgreSQL and msgspec support
