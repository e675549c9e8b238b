"""What can go wrong while the embedded stack starts or runs, in words an operator can act on."""

from pathlib import Path

TAIL_LINES = 15


class EmbeddedPartFailed(RuntimeError):
    """A part of the embedded stack did not start or stopped by itself: names the part, the cause, the remedy."""

    def __init__(self, part: str, happened: str, remedy: str, tail: str = "") -> None:
        log = f"\nLast lines of its log:\n{tail}" if tail else ""
        super().__init__(f"{part}: {happened}. {remedy}{log}")
        self.part = part
        self.happened = happened
        self.remedy = remedy
        self.tail = tail


def log_tail(path: Path, lines: int = TAIL_LINES) -> str:
    """The last lines of a log file, indented; empty when there is none yet."""
    if not path.exists():
        return ""
    text = path.read_bytes()[-16_384:].decode(errors="replace")
    return "\n".join(f"  {line}" for line in text.splitlines()[-lines:])
