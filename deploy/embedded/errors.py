"""Errors of the embedded stack, with remedies."""

from pathlib import Path

TAIL_LINES = 15


class EmbeddedPartFailed(RuntimeError):
    """A part of the embedded stack did not start, or ended by itself. The message has the part, the cause, the remedy and
    the end of its log."""

    def __init__(self, part: str, happened: str, remedy: str, tail: str = "") -> None:
        log = f"\nLast lines of its log:\n{tail}" if tail else ""
        super().__init__(f"{part}: {happened}. {remedy}{log}")
        self.part = part
        self.happened = happened
        self.remedy = remedy
        self.tail = tail


def log_tail(path: Path, lines: int = TAIL_LINES) -> str:
    """The last lines of a log file, indented; empty if there is no file."""
    if not path.exists():
        return ""
    text = path.read_bytes()[-16_384:].decode(errors="replace")
    return "\n".join(f"  {line}" for line in text.splitlines()[-lines:])
