from typing import Any

import asyncpg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import MemstreamError, Misconfigured, Rejected, Retryable
from sinks.postgres.connection import decode_jsonb, encode_jsonb, translated


@pytest.mark.parametrize(
    ("raised", "becomes"),
    [
        (asyncpg.SerializationError("x"), Retryable),
        (asyncpg.DeadlockDetectedError("x"), Retryable),
        (asyncpg.QueryCanceledError("x"), Retryable),
        (asyncpg.AdminShutdownError("x"), Retryable),
        (asyncpg.CannotConnectNowError("x"), Retryable),
        (asyncpg.TooManyConnectionsError("x"), Retryable),
        (asyncpg.ConnectionDoesNotExistError("x"), Retryable),
        (asyncpg.DiskFullError("x"), Retryable),
        (asyncpg.ReadOnlySQLTransactionError("x"), Retryable),
        (asyncpg.InvalidCachedStatementError("x"), Retryable),
        (asyncpg.InternalClientError("got result for unknown protocol state 0"), Retryable),
        (asyncpg.InterfaceError("connection is closed"), Retryable),
        (ConnectionResetError("x"), Retryable),
        (TimeoutError(), Retryable),
        (asyncpg.CharacterNotInRepertoireError("x"), Rejected),
        (asyncpg.UndefinedTableError("x"), Misconfigured),
        (asyncpg.InvalidPasswordError("x"), Misconfigured),
    ],
)
def test_driver_errors_are_translated_to_memstream_errors(raised: Exception, becomes: type[MemstreamError]) -> None:
    with pytest.raises(becomes) as caught, translated("testing"):
        raise raised
    assert caught.value.__cause__ is raised
    assert "testing" in str(caught.value)


def test_a_read_only_session_is_waited_for_and_its_possible_causes_are_named() -> None:
    raised = asyncpg.ReadOnlySQLTransactionError("cannot execute INSERT in a read-only transaction")
    with pytest.raises(Retryable) as caught, translated("storing messages"):
        raise raised
    for part in ("refused a write while storing messages", "a standby", "default_transaction_read_only", "the role"):
        assert part in caught.value.plain, "log lines have this part of the message"


def test_a_time_that_postgresql_cannot_store_is_refused_with_the_limits() -> None:
    raised = asyncpg.DataError(
        "invalid input for query argument $7: datetime.datetime(1, 1, 1 (date value out of range)"
    )
    with (
        pytest.raises(Rejected, match=r"while testing: a time outside the years 1 to 9999 of UTC$"),
        translated("testing"),
    ):
        raise raised


@pytest.mark.parametrize("raised", [asyncpg.UniqueViolationError("x"), ValueError("x"), KeyError("x")])
def test_programming_errors_are_not_translated(raised: Exception) -> None:
    with pytest.raises(type(raised)), translated("testing"):
        raise raised


values = st.recursive(
    st.none() | st.booleans() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


def without_nul(value: Any) -> Any:
    match value:
        case str():
            return value.replace("\x00", "\ufffd")
        case list():
            return [without_nul(each) for each in value]
        case dict():
            return {without_nul(key): without_nul(each) for key, each in value.items()}
    return value


@given(values)
def test_jsonb_round_trips_everything_but_nul_characters(value: Any) -> None:
    assert decode_jsonb(encode_jsonb(value)) == without_nul(value)
