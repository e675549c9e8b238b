"""Splitting a stream into lines at any chunk boundaries."""

from collections.abc import AsyncIterator

from hypothesis import given
from hypothesis import strategies as st

from agents.api.http.line_splitter import Line, split_lines


async def chunked(data: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


async def taken(data: bytes, size: int, longest: int = 20) -> list[Line]:
    return [line async for line in split_lines(chunked(data, size), longest)]


@given(st.lists(st.binary(max_size=30).filter(lambda line: b"\n" not in line), max_size=8), st.integers(1, 40))
async def test_lines_are_split_the_same_for_any_chunk_boundaries(parts: list[bytes], size: int):
    expected = [
        Line(number, None if len(part) > 20 else part)
        for number, part in enumerate(parts, start=1)
        if len(part) > 20 or part.strip()
    ]
    assert await taken(b"\n".join(parts), size) == expected
    assert await taken(b"\n".join(parts) + b"\n", size) == expected


async def test_an_overlong_line_is_dropped_and_the_next_line_is_read():
    assert await taken(b"x" * 1_000 + b"\nfine\n" + b"y" * 500, 64) == [Line(1, None), Line(2, b"fine"), Line(3, None)]
