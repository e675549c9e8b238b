"""Export and import of memories as JSON Lines, streamed in constant memory."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated, Final
from uuid import uuid4

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from agents.api.access import export_audit
from agents.api.access.authentication import CallerOf
from agents.api.http.json_bodies import DocumentedBodies, documented, json_response, media_type
from agents.api.http.json_lines import NDJSON, documented_lines, json_lines_content, streamed_lines
from agents.api.http.line_splitter import split_lines
from agents.api.http.problems import Problem
from agents.api.memories.exports import ExportedMemory, export_pages
from agents.api.memories.import_progress import ImportStep, progress_steps
from agents.api.memories.imports import Import, ImportedLine, ImportProgress, ImportReport
from agents.api.ports import PortsOf
from agents.api.routes.statistics import NamespaceOf
from schemas import codec
from schemas.memories.memories import Status

router = APIRouter(prefix="/v1", tags=["transfer"])

JSON_LINES_TYPES: Final = (NDJSON, "application/jsonl", "application/ndjson")


def documented_import() -> DocumentedBodies:
    documentation = documented(ImportReport, status=202, description="Lines read and published.")
    either = [{"$ref": f"#/components/schemas/{shape.__name__}"} for shape in (ImportProgress, ImportReport)]
    steps = {
        "description": "Progress lines; the last line is the report.",
        "content": {NDJSON: {"schema": {"anyOf": either}}},
    }
    documentation["responses"]["200"] = steps
    documentation["requestBody"] = {"required": True, "content": json_lines_content(ImportedLine)}
    return DocumentedBodies(dict(documentation), (*documentation.shapes, ImportProgress, ImportedLine))


@router.get("/export", openapi_extra=documented_lines(ExportedMemory, "One memory per line."))
async def export_memories(
    namespace: NamespaceOf,
    caller: CallerOf,
    ports: PortsOf,
    status: Annotated[
        list[Status],
        Query(
            max_length=4,
            description="Memories of any of these statuses. `deleted` ones show the contents that an undo restores.",
        ),
    ] = ["active", "superseded", "expired"],  # noqa: B006
    versions: Annotated[bool, Query(description="Include all versions of each memory.")] = False,
) -> Response:
    """Export all memories of a namespace as JSON Lines. If the export fails, the connection breaks. The export is in the
    audit log."""
    caller.require("read", namespace)
    statuses = tuple(dict.fromkeys(status))
    entry = export_audit.namespace_export(ports.clock(), caller.actor, namespace, statuses, with_versions=versions)
    await ports.audit.record(entry)
    return await streamed_lines(export_pages(ports.exports, namespace, statuses, with_versions=versions))


@router.post("/import", status_code=202, openapi_extra=documented_import())
async def import_memories(
    request: Request,
    namespace: NamespaceOf,
    caller: CallerOf,
    ports: PortsOf,
    import_id: Annotated[
        str | None,
        Query(
            pattern=r"^[A-Za-z0-9._-]{1,64}$",
            description="Id of the import; lines that are repeated under the same id are processed once.",
        ),
    ] = None,
) -> Response:
    """Import memories from JSON Lines as exports have them, from any namespace.

    Memories whose id or text exists stay unchanged. With `Accept: application/x-ndjson` the answer has a line of progress per
    second, and the report at the end, when all lines are processed.
    """
    caller.require("write", namespace)
    if media_type(request) not in JSON_LINES_TYPES:
        raise Problem(
            415, "unsupported-media-type", f"send the lines as {NDJSON}", {"Accept": ", ".join(JSON_LINES_TYPES)}
        )
    run = Import(namespace, import_id or uuid4().hex, caller.actor, ports.clock, ports.commands.send)
    if NDJSON not in request.headers.get("accept", ""):
        return json_response(await run.run(split_lines(request.stream())), 202)
    steps = progress_steps(run, split_lines(request.stream()), ports.commands.settled, request.is_disconnected)
    return ImportStream(await anext(steps), steps)


class ImportStream(StreamingResponse):
    """Streams progress while the request body is still being received. Unlike its base class, it does not listen for a
    disconnect: the import reads all messages of the client."""

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
