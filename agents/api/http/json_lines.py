"""Responses of JSON Lines, streamed page by page, and their OpenAPI documentation."""

from collections.abc import AsyncIterator
from typing import Any, Final

from fastapi.responses import StreamingResponse

from agents.api.http.json_bodies import DocumentedBodies

NDJSON: Final = "application/x-ndjson"


def json_lines_content(shape: type[Any]) -> dict[str, Any]:
    """Returns the OpenAPI content of a body whose lines each have this shape."""
    return {NDJSON: {"schema": {"$ref": f"#/components/schemas/{shape.__name__}"}}}


def documented_lines(shape: type[Any], description: str) -> DocumentedBodies:
    response = {"description": description, "content": json_lines_content(shape)}
    return DocumentedBodies({"responses": {"200": response}}, (shape,))


async def streamed_lines(pages: AsyncIterator[bytes]) -> StreamingResponse:
    """Returns a response of these pages. An error before the first page is still a problem response."""
    first = await anext(pages, b"")

    async def all_pages() -> AsyncIterator[bytes]:
        yield first
        async for page in pages:
            yield page

    return StreamingResponse(all_pages(), media_type=NDJSON)
