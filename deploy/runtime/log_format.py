"""Log lines as text or JSON, with ids of the current work. Errors are logged without text that they quote.

An error's message may contain users' text: PostgreSQL's details show rows, a decoder shows the invalid value, a server
echoes the request. memstream's own errors are therefore logged without quoted parts, all others by class with their code or
status.
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

# Attributes of foreign errors that are safe to log.
CODES: Final = ("sqlstate", "constraint_name", "status_code", "errno")
# asyncio's own log messages contain the repr of tasks with their errors after the first line.
SHOWS_MORE: Final = "asyncio"


def log_record_fields(error: BaseException) -> str:
    """The parts of an error that may be logged."""
    if isinstance(error, MemstreamError):
        return error.plain
    codes = [f"{name} {code}" for name in CODES if isinstance(code := getattr(error, name, None), str | int)]
    parts = [error.strerror] if isinstance(error, OSError) and error.strerror else []
    return ", ".join([type(error).__qualname__, *codes, *parts])


def trace_lines(error: BaseException, quoting: bool) -> Iterator[str]:
    """The traceback as Python prints it, causes first, without messages."""
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


class LogFormatter(logging.Formatter):
    """`quoting`: errors are logged with their full messages."""

    def __init__(self, form: str | None = None, *, quoting: bool = False) -> None:
        super().__init__(form)
        self._quoting = quoting

    def formatException(self, ei: Any) -> str:
        return "".join(trace_lines(ei[1], self._quoting)).rstrip("\n") if ei[1] is not None else ""

    def message(self, record: logging.LogRecord) -> str:
        """The message, with errors among its arguments reduced to what may be logged."""
        if self._quoting:
            return record.getMessage()
        text = str(record.msg) if not isinstance(record.msg, BaseException) else log_record_fields(record.msg)
        args = record.args
        if isinstance(args, Mapping):
            text %= {name: without_personal_ids(each) for name, each in args.items()}
        elif args:
            text %= tuple(without_personal_ids(each) for each in args)
        return text.partition("\n")[0] if record.name == SHOWS_MORE else text

    def error(self, record: logging.LogRecord) -> str | None:
        if record.exc_info and record.exc_info[1] is not None:
            return self.formatException(record.exc_info)
        return None


def without_personal_ids(arg: object) -> object:
    return log_record_fields(arg) if isinstance(arg, BaseException) else arg


def context_ids() -> dict[str, str]:
    """The ids of the current work and of the trace."""
    trace_id = current_id()
    return {**ids(), **({"trace_id": trace_id} if trace_id else {})}


def on_one_line(value: str) -> str:
    """Escapes line breaks: senders choose ids, which must not forge log lines."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in value)


def left_out(record: logging.LogRecord) -> str:
    """The number of repetitions that `RepeatedFailures` left out before the record."""
    count = getattr(record, "left_out", 0)
    return f" ({count:,} more since the last such line)" if count else ""


class TextFormatter(LogFormatter):
    """Text lines, for people."""

    def format(self, record: logging.LogRecord) -> str:
        about = "".join(f" {name}={on_one_line(value)}" for name, value in context_ids().items())
        head = f"{self.formatTime(record)} {record.levelname:<7} {record.name}: {self.message(record)}{left_out(record)}{about}"
        error = self.error(record)
        return head if error is None else f"{head}\n{error}"


class JsonFormatter(LogFormatter):
    """One JSON object per line: `time`, `level`, `logger`, `message`, ids, and `error` with its traceback."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, str] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self.message(record) + left_out(record),
            **context_ids(),
        }
        if (error := self.error(record)) is not None:
            line["error"] = error
        return codec.encode({name: value.encode("utf-8", "replace").decode() for name, value in line.items()}).decode()
