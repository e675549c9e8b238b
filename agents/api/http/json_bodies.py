"""JSON request and response bodies as msgspec Structs, with their OpenAPI documentation."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

from fastapi import Request, Response
from msgspec import Struct

from agents.api.http.problems import Problem
from schemas import codec

T = TypeVar("T", bound=Struct)

JSON = "application/json"
MAX_BODY_BYTES: Final = 1_048_576


def json_body(shape: type[T]) -> Callable[[Request], Awaitable[T]]:
    """Returns a dependency that decodes the request body: `Annotated[Shape, Depends(json_body(Shape))]`.

    No body at all is an empty object. The dependency raises Rejected, Problem 413, and Problem 415 for another media type:
    browsers send some of those cross-site without a preflight request.
    """

    async def body(request: Request) -> T:
        return codec.decode_untrusted(b"{}" if has_no_body(request) else await read_json(request), shape)

    return body


async def read_json(request: Request) -> bytes:
    """Returns the raw body of a JSON request. Raises Problem 413 and 415."""
    if media_type(request) != JSON:
        raise Problem(415, "unsupported-media-type", f"send the body as {JSON}", {"Accept": JSON})
    return await read_body(request, MAX_BODY_BYTES)


def has_no_body(request: Request) -> bool:
    """Whether a request has neither a body nor a media type for one."""
    is_empty = request.headers.get("content-length", "0") == "0" and "transfer-encoding" not in request.headers
    return is_empty and not media_type(request)


def media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def read_body(request: Request, max_bytes: int) -> bytes:
    """Returns the body. Raises Problem 413 as soon as it exceeds `max_bytes`."""
    declared = request.headers.get("content-length", "")[:18]
    if declared.isdecimal() and int(declared) > max_bytes:
        raise too_large(max_bytes)
    parts, size = [], 0
    async for part in request.stream():
        parts.append(part)
        if (size := size + len(part)) > max_bytes:
            raise too_large(max_bytes)
    return b"".join(parts)


def too_large(max_bytes: int) -> Problem:
    return Problem(
        413, "content-too-large", f"the body exceeds the limit of {max_bytes:,} bytes", {"Connection": "close"}
    )


def json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Returns a response with a Struct or builtins as JSON."""
    return Response(codec.encode(value), status, dict(headers or {}), JSON)


class DocumentedBodies(dict[str, Any]):
    """The OpenAPI fields of an operation's bodies, with the Structs that they refer to."""

    def __init__(self, fields: dict[str, Any], shapes: tuple[type[Struct], ...]) -> None:
        super().__init__(fields)
        self.shapes = shapes


def documented(
    response_body: type[Struct] | None = None,
    *,
    request_body: type[Struct] | None = None,
    status: int = 200,
    description: str = "Success.",
    without_body: Mapping[int, str] | None = None,
    with_same_body: Mapping[int, str] | None = None,
) -> DocumentedBodies:
    """Returns `openapi_extra` for a route that responds with `response_body` under `status` and accepts `request_body`.

    `without_body` and `with_same_body` are further statuses with their descriptions; the latter have the body `response_body`
    too. Problem responses are added to every route elsewhere.
    """
    with_body = {status: description} | dict(with_same_body or {})
    responses: dict[str, Any] = {
        str(code): {"description": text} | json_content(response_body) for code, text in with_body.items()
    }
    responses |= {str(other): {"description": text} for other, text in (without_body or {}).items()}
    fields: dict[str, Any] = {"responses": responses}
    if request_body is not None:
        fields["requestBody"] = {"required": True} | json_content(request_body)
    return DocumentedBodies(fields, tuple(shape for shape in (response_body, request_body) if shape is not None))


def json_content(shape: type[Struct] | None) -> dict[str, Any]:
    return {} if shape is None else {"content": {JSON: {"schema": {"$ref": f"#/components/schemas/{shape.__name__}"}}}}
