"""Lines of the log, as text or JSON, with the ids of what is worked on; they tell of errors and not what these quote.

An error's message may hold what somebody said: PostgreSQL's details show rows, a decoder shows the value that it did not take, a
server echoes the request. So of memstream's own errors the message is told without what it quotes, and of all others the class,
with the code or status that they have.
"""

import logging
import traceback
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from schemas import codec
from schemas.errors import MemstreamError
from schemas.observability.log_context import ids
from schemas.observability.traces import current_id

# What foreign errors have besides their messages.
CODES: Final = ("sqlstate", "constraint_name", "status_code", "errno")
# asyncio's own lines show tasks with their errors, after the first one.
SHOWS_MORE: Final = "asyncio"


def log_record_fields(error: BaseException) -> str:
    """What of an error may stand in a log."""
    if isinstance(error, MemstreamError):
        return error.plain
    codes = [f"{name} {code}" for name in CODES if isinstance(code := getattr(error, name, None), str | int)]
    said = [error.strerror] if isinstance(error, OSError) and error.strerror else []
    return ", ".join([type(error).__qualname__, *codes, *said])


def trace_lines(error: BaseException, quoting: bool) -> Iterator[str]:
    """As Python shows it, causes first; their places in the code, which hold nothing of what was said."""
    if quoting:
        yield from traceback.format_exception(error)
        return
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None:
        yield from trace_lines(before, quoting)
        yield "\nwhich led to:\n\n"
    yield from traceback.format_tb(error.__traceback__)
    name = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    yield f"{name}: {log_record_fields(error)}\n"
    if isinstance(error, BaseExceptionGroup):
        for number, each in enumerate(error.exceptions, start=1):
            yield f"of which {number}:\n"
            yield from trace_lines(each, quoting)


class Lines(logging.Formatter):
    """`quoting`: errors are told whole."""

    def __init__(self, form: str | None = None, *, quoting: bool = False) -> None:
        super().__init__(form)
        self._quoting = quoting

    def formatException(self, ei: Any) -> str:
        return "".join(trace_lines(ei[1], self._quoting)).rstrip("\n") if ei[1] is not None else ""

    def message(self, record: logging.LogRecord) -> str:
        """What is told, with errors among it as they may be told."""
        if self._quoting:
            return record.getMessage()
        said = str(record.msg) if not isinstance(record.msg, BaseException) else log_record_fields(record.msg)
        args = record.args
        if isinstance(args, Mapping):
            said %= {name: without_personal_ids(each) for name, each in args.items()}
        elif args:
            said %= tuple(without_personal_ids(each) for each in args)
        return said.partition("\n")[0] if record.name == SHOWS_MORE else said

    def error(self, record: logging.LogRecord) -> str | None:
        if record.exc_info and record.exc_info[1] is not None:
            return self.formatException(record.exc_info)
        return None


def without_personal_ids(arg: object) -> object:
    return log_record_fields(arg) if isinstance(arg, BaseException) else arg


def context_ids() -> dict[str, str]:
    """The ids of what is worked on, and the trace's."""
    trace_id = current_id()
    return {**ids(), **({"trace_id": trace_id} if trace_id else {})}


def on_one_line(value: str) -> str:
    """An id is whatever a sender chose, and may not write lines of its own."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in value)


class TextLines(Lines):
    """For people."""

    def format(self, record: logging.LogRecord) -> str:
        about = "".join(f" {name}={on_one_line(value)}" for name, value in context_ids().items())
        head = f"{self.formatTime(record)} {record.levelname:<7} {record.name}: {self.message(record)}{about}"
        error = self.error(record)
        return head if error is None else f"{head}\n{error}"


class JsonLines(Lines):
    """One object a line: `time`, `level`, `logger`, `message`, ids, and `error` with its traceback."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, str] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self.message(record),
            **context_ids(),
        }
        if (error := self.error(record)) is not None:
            line["error"] = error
        return codec.encode({name: value.encode("utf-8", "replace").decode() for name, value in line.items()}).decode()
