"""Errors as answers: `application/problem+json` (RFC 9457) for whatever goes wrong, framework's and ours alike.

`type` is `urn:memstream:problem:` and a short stable word, which programs may branch on; `detail` is for people.
"""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from urllib.parse import quote

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from msgspec import Struct
from starlette.exceptions import HTTPException

from schemas import codec
from schemas.errors import MemstreamError, Misconfigured, Overloaded, Rejected, Retryable

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
TYPE = "urn:memstream:problem:"
RETRY_AFTER_S = 5
OVERLOADED_RETRY_AFTER_S = 1  # some of those that wait are answered by then


class ProblemDetails(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is wrong with a request, or why it cannot be answered now. `instance` is its path, `request_id` its id in logs."""

    type: str
    title: str
    status: int
    detail: str | None = None
    instance: str | None = None
    request_id: str | None = None


class Problem(MemstreamError):
    """A request that gets an error for its answer. `word` names the kind of problem."""

    def __init__(self, status: int, word: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(f"{status} {word}: {detail}")
        self.status = status
        self.word = word
        self.detail = detail
        self.headers = dict(headers or {})


def not_found(detail: str) -> Problem:
    return Problem(404, "not-found", detail)


def conflict(detail: str) -> Problem:
    return Problem(409, "conflict", detail)


def invalid(detail: str) -> Problem:
    return Problem(422, "invalid", detail)


def from_rejected(rejected: Rejected) -> Problem:
    """Bytes that are no JSON are a bad request; what they say may be well formed and still wrong."""
    return Problem(400 if rejected.reason == "undecodable" else 422, rejected.reason, rejected.detail)


def from_retryable(retryable: Retryable) -> Problem:
    return Problem(503, "unavailable", str(retryable), {"Retry-After": str(RETRY_AFTER_S)})


def from_http_exception(request: Request, raised: HTTPException) -> Problem:
    """Errors of the framework: unknown path, unknown method."""
    if raised.status_code == HTTPStatus.NOT_FOUND:
        return not_found(f"there is no path {request.url.path!r}: /v1/openapi.json has all")
    if raised.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = ", ".join(
            sorted(request.app.state.methods(request.url.path))
        )  # of all routes of the path, not of one
        return Problem(405, "method-not-allowed", f"this path takes {allowed}", {"Allow": allowed})
    status = HTTPStatus(raised.status_code)
    return Problem(status, slug(status.phrase), str(raised.detail), raised.headers)


def from_validation_error(raised: RequestValidationError) -> Problem:
    """Names places and expectations; never values."""
    said = (
        f"{'.'.join(map(str, error['loc']))}: {error['msg'].removeprefix('Value error, ')}" for error in raised.errors()
    )
    return invalid("; ".join(said))


def from_overloaded(overloaded: Overloaded) -> Problem:
    return Problem(503, "overloaded", str(overloaded), {"Retry-After": str(OVERLOADED_RETRY_AFTER_S)})


UNFORESEEN = Problem(500, "internal", "this is a fault of the server; its log tells more under the request's id")


def slug(phrase: str) -> str:
    return phrase.lower().replace(" ", "-")


def response(request: Request, problem: Problem) -> Response:
    request_id = getattr(request.state, "request_id", None)
    details = ProblemDetails(
        type=TYPE + problem.word,
        title=HTTPStatus(problem.status).phrase,
        status=problem.status,
        detail=problem.detail,
        instance=request.url.path,
        request_id=request_id,
    )
    headers = problem.headers | ({"X-Request-Id": request_id} if problem.status == 500 and request_id else {})
    return Response(codec.encode(details), problem.status, headers, MEDIA_TYPE)


async def handle_error(request: Request, raised: Exception) -> Response:
    match raised:
        case Problem():
            return response(request, raised)
        case Rejected():
            return response(request, from_rejected(raised))
        case Overloaded():  # not logged: the meter of requests counts them, and they come by the hundred
            return response(request, from_overloaded(raised))
        case Retryable():
            log.warning("%s %s: %s", request.method, quote(request.url.path), raised)
            return response(request, from_retryable(raised))
        case Misconfigured():
            log.error("%s %s: %s", request.method, quote(request.url.path), raised)
            return response(request, Problem(500, "misconfigured", "the server is set up wrong; its log says how"))
        case _:
            return response(request, UNFORESEEN)


async def handle_framework_error(request: Request, raised: Exception) -> Response:
    if isinstance(raised, RequestValidationError):
        return response(request, from_validation_error(raised))
    assert isinstance(raised, HTTPException)
    return response(request, from_http_exception(request, raised))


def install_error_handlers(app: FastAPI) -> None:
    """From here on every error of the app is a problem. What nobody foresaw is logged with its trace by the server."""
    app.add_exception_handler(MemstreamError, handle_error)
    app.add_exception_handler(HTTPException, handle_framework_error)
    app.add_exception_handler(RequestValidationError, handle_framework_error)
    app.add_exception_handler(Exception, handle_error)
