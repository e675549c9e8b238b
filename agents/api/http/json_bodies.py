"""JSON bodies of routes as msgspec Structs, in both directions, with their OpenAPI documentation."""

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
    """A dependency: the request's body as this Struct, `Annotated[Shape, Depends(takes(Shape))]`.

    Raises Problem 413, 415 for another media type (a browser on a foreign page can send those without asking), and Rejected.
    """

    async def body(request: Request) -> T:
        return codec.decode_untrusted(await read_json(request), shape)

    return body


async def read_json(request: Request) -> bytes:
    """The raw body of a JSON request. Raises Problem 413, 415."""
    if media_type(request) != JSON:
        raise Problem(415, "unsupported-media-type", f"send the body as {JSON}", {"Accept": JSON})
    return await read_body(request, MAX_BODY_BYTES)


def media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def read_body(request: Request, most_bytes: int) -> bytes:
    """The body. Raises Problem 413 before it holds more than this."""
    declared = request.headers.get("content-length", "")[:18]
    if declared.isdecimal() and int(declared) > most_bytes:
        raise too_large(most_bytes)
    parts, size = [], 0
    async for part in request.stream():
        parts.append(part)
        if (size := size + len(part)) > most_bytes:
            raise too_large(most_bytes)
    return b"".join(parts)


def too_large(most_bytes: int) -> Problem:
    return Problem(413, "content-too-large", f"a body may have {most_bytes:,} bytes at most", {"Connection": "close"})


def json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A Struct or builtins as JSON."""
    return Response(codec.encode(value), status, dict(headers or {}), JSON)


class DocumentedBodies(dict[str, Any]):
    """The OpenAPI documentation of an operation's bodies, with the Structs that it refers to."""

    def __init__(self, fields: dict[str, Any], shapes: tuple[type[Struct], ...]) -> None:
        super().__init__(fields)
        self.shapes = shapes


def documented(
    gives: type[Struct] | None = None,
    *,
    takes: type[Struct] | None = None,
    status: int = 200,
    description: str = "As asked.",
    without_body: Mapping[int, str] | None = None,
    with_same_body: Mapping[int, str] | None = None,
) -> DocumentedBodies:
    """`openapi_extra` of a route: the shape it `gives` with `status`, the shape it `takes`, and further statuses by what they
    say: `also` those without a body, `alike` those with the same. Problems are added to every route."""
    with_body = {status: description} | dict(with_same_body or {})
    responses: dict[str, Any] = {
        str(each): {"description": words} | content(gives) for each, words in with_body.items()
    }
    responses |= {str(other): {"description": words} for other, words in (without_body or {}).items()}
    fields: dict[str, Any] = {"responses": responses}
    if takes is not None:
        fields["requestBody"] = {"required": True} | content(takes)
    return DocumentedBodies(fields, tuple(shape for shape in (gives, takes) if shape is not None))


def content(shape: type[Struct] | None) -> dict[str, Any]:
    return {} if shape is None else {"content": {JSON: {"schema": {"$ref": f"#/components/schemas/{shape.__name__}"}}}}
