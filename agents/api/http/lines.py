"""Splits a streamed body into lines; holds at most one line in memory."""

from collections.abc import AsyncIterable, AsyncIterator
from typing import Final, NamedTuple

LONGEST: Final = 262_144  # bytes of a line; the largest memory has less than half of that


class Line(NamedTuple):
    """Its number, from 1, and what it says; None of a line that is too long."""

    number: int
    data: bytes | None


async def lines(chunks: AsyncIterable[bytes], longest: int = LONGEST) -> AsyncIterator[Line]:
    """Each line that is not blank, without its end; the last one may lack it."""
    number, held, over = 1, bytearray(), False
    async for chunk in chunks:
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            line = Line(number, None if over or len(held) + len(part) > longest else bytes(held + part))
            if line.data is None or line.data.strip():
                yield line
            number, held, over = number + 1, bytearray(), False
        over = over or len(held) + len(rest) > longest
        held = bytearray() if over else held + rest
    if over or held.strip():
        yield Line(number, None if over else bytes(held))
