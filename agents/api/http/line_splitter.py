"""Splits a streamed body into lines and buffers at most one line."""

from collections.abc import AsyncIterable, AsyncIterator
from typing import Final, NamedTuple

MAX_LINE_BYTES: Final = 262_144  # the largest memory takes less than half of it


class Line(NamedTuple):
    """A line: its number, from 1, and its bytes; `data` is None for a line that is too long."""

    number: int
    data: bytes | None


async def split_lines(chunks: AsyncIterable[bytes], max_bytes: int = MAX_LINE_BYTES) -> AsyncIterator[Line]:
    """Yields each non-blank line without its newline. The last line may lack a newline."""
    number, buffer, too_long = 1, bytearray(), False
    async for chunk in chunks:
        *complete, remainder = chunk.split(b"\n")
        for part in complete:
            line = Line(number, None if too_long or len(buffer) + len(part) > max_bytes else bytes(buffer + part))
            if line.data is None or line.data.strip():
                yield line
            number, buffer, too_long = number + 1, bytearray(), False
        too_long = too_long or len(buffer) + len(remainder) > max_bytes
        buffer = bytearray() if too_long else buffer + remainder
    if too_long or buffer.strip():
        yield Line(number, None if too_long else bytes(buffer))
