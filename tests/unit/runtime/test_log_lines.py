"""Log lines contain errors and ids, and no message content."""

import asyncio
import json
import logging
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path

import anthropic
import asyncpg
import httpx
import msgspec
import pydantic
import pytest

from agents.models.claude.errors import translated
from deploy.runtime import process
from deploy.runtime.log_format import JsonFormatter, LogFormatter, TextFormatter
from deploy.settings import Settings
from schemas import codec
from schemas.conversations.messages import Message
from schemas.errors import Rejected, Retryable
from schemas.observability import traces
from schemas.observability.log_context import about
from sinks.postgres.connection import translated as postgres_translated
from tests.fakes.spans import CAUSE, trace_of

SAID = "my sister Ilse has diabetes"


def claude(status: int) -> anthropic.APIStatusError:
    request = httpx.Request("POST", "https://api.example/v1/messages")
    body = {"error": {"type": "invalid_request_error", "message": f"messages.0: {SAID}"}}
    return anthropic.APIStatusError(
        f"Error code: {status} - {body}", response=httpx.Response(status, request=request), body=body
    )


def refused_by_postgres() -> Exception:
    return asyncpg.CheckViolationError.new(
        {
            "C": "23514",
            "M": "new row violates check constraint",
            "D": f"Failing row contains (1, {SAID}).",
            "n": "short",
        }
    )


def raised(error: Exception) -> Callable[[], object]:
    def act() -> object:
        raise error

    return act


def in_a_chain() -> None:
    try:
        raise ValueError(SAID)
    except ValueError as exc:
        raise RuntimeError(f"because of {exc}") from exc


def as_unstorable() -> None:
    with postgres_translated("storing a memory"):
        raise asyncpg.DataError(f"invalid input for query argument $1: {SAID!r}")


def as_a_claude_outage() -> None:
    raise translated(claude(503), "a-model") from claude(503)


QUOTING: dict[str, Callable[[], object]] = {
    "msgspec": lambda: codec.decode(json.dumps({"role": SAID}).encode(), Message),
    "msgspec itself": lambda: msgspec.json.decode(json.dumps({"role": SAID}).encode(), type=dict[str, int]),
    "orjson": lambda: codec.parse(SAID.encode()),
    "utf-8": lambda: (SAID.encode() + b"\xff").decode(),
    "utf-8 of codec": lambda: codec.decode(b'"' + SAID.encode() + b'\xff"', Message),
    "pydantic": lambda: pydantic.TypeAdapter(int).validate_python(SAID),
    "asyncpg": raised(refused_by_postgres()),
    "unstorable": as_unstorable,
    "anthropic": raised(claude(400)),
    "anthropic, refused": raised(translated(claude(400), "a-model")),
    "anthropic, down": as_a_claude_outage,
    "anthropic, busy": raised(translated(claude(429), "a-model")),
    "httpx": lambda: httpx.Response(500, text=SAID, request=httpx.Request("GET", "http://x/")).raise_for_status(),
    "a key": lambda: {}[SAID],  # type: ignore[var-annotated]
    "a chain": in_a_chain,
    "a group": raised(ExceptionGroup(SAID, [ValueError(SAID), Rejected("invalid", SAID)])),
    "a note": raised(noted := ValueError("x")),
}
noted.add_note(SAID)


@pytest.fixture
def written() -> StringIO:
    return StringIO()


@pytest.fixture(params=[TextFormatter, JsonFormatter])
def log(request: pytest.FixtureRequest, written: StringIO) -> Iterator[logging.Logger]:
    yield from logger(request.param(), written)


def logger(lines: LogFormatter, written: StringIO) -> Iterator[logging.Logger]:
    handler = logging.StreamHandler(written)
    handler.setFormatter(lines)
    made = logging.Logger("agents.test")
    made.addHandler(handler)
    yield made


@pytest.mark.parametrize("name", QUOTING)
def test_a_logged_error_omits_the_data_it_quotes(name: str, log: logging.Logger, written: StringIO):
    with pytest.raises(Exception) as caught:
        QUOTING[name]()
    error = caught.value
    log.warning("attempt %d failed: %s", 3, error)
    log.warning("in full: %r", error)
    log.warning(error)
    log.warning("by name: %(error)s", {"error": error})
    log.error("it fails", exc_info=error)
    logged = written.getvalue()
    for word in ("Ilse", "diabetes"):
        assert word not in logged
    assert type(error).__name__ in logged
    assert "test_log_lines.py" in logged  # where it was raised
    assert "attempt 3 failed: " in logged


def test_a_logged_error_keeps_codes_and_reasons_for_diagnosis(log: logging.Logger, written: StringIO):
    log.error("%s", refused_by_postgres())
    log.error("%s", Rejected("invalid", SAID))
    log.error("%s", translated(claude(503), "a-model"))
    log.error("%s", Retryable("PostgreSQL failed while storing: connection refused"))
    log.error("%s", ConnectionRefusedError(111, "Connection refused"))
    logged = written.getvalue()
    for wanted in (
        "CheckViolationError, sqlstate 23514, constraint_name short",
        "invalid",
        "Claude answered 503",
        "connection refused",
        "ConnectionRefusedError, errno 111, Connection refused",
    ):
        assert wanted in logged


def test_at_debug_level_errors_are_logged_in_full(written: StringIO):
    (log,) = logger(JsonFormatter(quoting=True), written)
    log.error("%s", Rejected("invalid", SAID), exc_info=ValueError(SAID))
    assert written.getvalue().count(SAID) == 2


def test_a_json_log_line_has_the_ids_of_the_current_work(written: StringIO):
    (log,) = logger(JsonFormatter(), written)
    with about(conversation_id="c1", request_id=None), traces.span("work", causes=[CAUSE]), about(request_id="r1"):
        log.info("a %s\nof two lines \ud800", "text")
    log.info("nothing")
    first, second = map(json.loads, written.getvalue().splitlines())
    assert first["time"].endswith("+00:00")
    del first["time"], second["time"]
    assert first == {
        "level": "info",
        "logger": "agents.test",
        "message": "a text\nof two lines ?",
        "conversation_id": "c1",
        "request_id": "r1",
        "trace_id": trace_of(CAUSE),
    }
    assert second == {"level": "info", "logger": "agents.test", "message": "nothing"}


async def test_a_task_inherits_the_logged_ids_of_its_creator(written: StringIO):
    (log,) = logger(JsonFormatter(), written)

    async def work() -> None:
        await asyncio.sleep(0)
        log.info("done")

    with about(request_id="r1"):
        task = asyncio.create_task(work())
    await task
    assert json.loads(written.getvalue())["request_id"] == "r1"


async def test_an_unretrieved_task_exception_is_logged_without_its_message(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], restored: None
):
    process.log_to_stderr(Settings(data_dir=tmp_path, log_format="json"))

    async def fail() -> None:
        raise ValueError(SAID)

    task = asyncio.get_running_loop().create_task(fail())
    await asyncio.wait([task])
    asyncio.get_running_loop().call_exception_handler(
        {"message": "Task exception was never retrieved", "exception": task.exception(), "future": task}
    )
    line = json.loads(capfd.readouterr().err)
    assert "never retrieved" in line["message"]
    assert "ValueError" in line["error"]
    assert "Ilse" not in str(line)


@pytest.fixture
def restored() -> Iterator[None]:
    """The root logger as it was."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    quiet = {name: logging.getLogger(name).level for name in process.QUIET}
    yield
    root.handlers[:], root.level = handlers, level
    for name, was in quiet.items():
        logging.getLogger(name).setLevel(was)


def test_an_id_with_control_characters_cannot_forge_a_log_line(written: StringIO):
    (log,) = logger(TextFormatter(), written)
    forged = "c1\n2026-11-22 INFO agents: all is well\r\x1b[2K\u2028Zoë"
    with about(conversation_id=forged):
        log.info("done")
    (line,) = written.getvalue().splitlines()
    assert line.endswith("conversation_id=c1\\n2026-11-22 INFO agents: all is well\\r\\x1b[2K\\u2028Zoë")
