"""Taking memories out and bringing them in, as JSON Lines: streamed, so that their number does not matter."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated, Any, Final, Literal
from uuid import uuid4

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from agents.api.access.authentication import CallerOf
from agents.api.http.json_bodies import DocumentedBodies, documented, json_response, media_type
from agents.api.http.lines import lines
from agents.api.http.problems import Problem
from agents.api.memories.exports import NDJSON, ExportedMemory, exported
from agents.api.memories.import_progress import ImportStep, followed
from agents.api.memories.imports import Import, ImportedLine, ImportProgress, ImportReport
from agents.api.ports import PortsOf
from agents.api.routes.statistics import NamespaceOf
from schemas import codec

router = APIRouter(prefix="/v1", tags=["transfer"])

TAKEN: Final = (NDJSON, "application/jsonl", "application/ndjson")


def json_lines_content(shape: type[Any]) -> dict[str, Any]:
    """What OpenAPI says of lines: each is one of these."""
    return {media: {"schema": {"$ref": f"#/components/schemas/{shape.__name__}"}} for media in (NDJSON,)}


def documented_export() -> DocumentedBodies:
    lines_told = {"description": "A memory on each line.", "content": json_lines_content(ExportedMemory)}
    return DocumentedBodies({"responses": {"200": lines_told}}, (ExportedMemory,))


def documented_import() -> DocumentedBodies:
    told = documented(ImportReport, status=202, description="What was read, and is on its way.")
    either = [{"$ref": f"#/components/schemas/{shape.__name__}"} for shape in (ImportProgress, ImportReport)]
    steps = {
        "description": "How far it is, and in the last line the report.",
        "content": {NDJSON: {"schema": {"anyOf": either}}},
    }
    told["responses"]["200"] = steps
    told["requestBody"] = {"required": True, "content": json_lines_content(ImportedLine)}
    return DocumentedBodies(dict(told), (*told.shapes, ImportProgress, ImportedLine))


@router.get("/export", openapi_extra=documented_export())
async def export_memories(
    namespace: NamespaceOf,
    caller: CallerOf,
    ports: PortsOf,
    status: Annotated[
        list[Literal["active", "superseded", "expired"]], Query(max_length=4, description="Memories of any of these.")
    ] = ["active", "superseded", "expired"],  # noqa: B006
    versions: Annotated[bool, Query(description="Each with all that it ever was.")] = False,
) -> Response:
    """Every memory of a namespace, one a line. A stream that was cut off lacks its end: the connection then breaks."""
    caller.require("read", namespace)
    pages = exported(ports.exports, namespace, tuple(dict.fromkeys(status)), with_versions=versions)
    first = await anext(pages, b"")  # what cannot be answered is still told as a problem

    async def all_pages() -> AsyncIterator[bytes]:
        yield first
        async for page in pages:
            yield page

    return StreamingResponse(all_pages(), media_type=NDJSON)


@router.post("/import", status_code=202, openapi_extra=documented_import())
async def import_memories(
    request: Request,
    namespace: NamespaceOf,
    caller: CallerOf,
    ports: PortsOf,
    import_id: Annotated[
        str | None,
        Query(
            pattern=r"^[A-Za-z0-9._-]{1,64}$", description="Of this run: repeated under it, a line is carried out once."
        ),
    ] = None,
) -> Response:
    """Bring memories in, one a line, as an export tells them, whatever namespace they come from.

    Memories that are there, by their id or their text, stay as they are. Who accepts `application/x-ndjson` is told each second
    how far it is, and at the end, once all is carried out, the report.
    """
    caller.require("write", namespace)
    if media_type(request) not in TAKEN:
        raise Problem(415, "unsupported-media-type", f"send the lines as {NDJSON}", {"Accept": ", ".join(TAKEN)})
    run = Import(namespace, import_id or uuid4().hex, caller.actor, ports.clock, ports.commands.send)
    if NDJSON not in request.headers.get("accept", ""):
        return json_response(await run.run(lines(request.stream())), 202)
    steps = followed(run, lines(request.stream()), ports.commands.settled, request.is_disconnected)
    return ImportStream(await anext(steps), steps)


class ImportStream(StreamingResponse):
    """Lines that are sent while the body still comes in: unlike its parent it leaves what the client sends to the import."""

    def __init__(self, first: ImportStep, steps: AsyncGenerator[ImportStep, None]) -> None:
        super().__init__(self._lines(first), media_type=NDJSON)
        self._steps = steps

    async def _lines(self, first: ImportStep) -> AsyncIterator[bytes]:
        yield codec.encode(first) + b"\n"
        async for step in self._steps:
            yield codec.encode(step) + b"\n"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._steps):
            await self.stream_response(send)
