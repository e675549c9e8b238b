"""Maps all errors, including FastAPI's, to `application/problem+json` responses (RFC 9457).

`type` is `urn:memstream:problem:` followed by a stable code for programs; `detail` is a sentence for people.
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
TYPE_PREFIX = "urn:memstream:problem:"
RETRY_AFTER_S = 5
OVERLOADED_RETRY_AFTER_S = 1  # queued requests are likely served by then


class ProblemDetails(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An error response. `instance` is the path of the request, `request_id` its id in the server's log."""

    type: str
    title: str
    status: int
    detail: str | None = None
    instance: str | None = None
    request_id: str | None = None


class Problem(MemstreamError):
    """An error response as an exception. `code` is the stable code at the end of the problem's `type`."""

    def __init__(self, status: int, code: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(f"{status} {code}: {detail}")
        self.status = status
        self.code = code
        self.detail = detail
        self.headers = dict(headers or {})


def not_found(detail: str) -> Problem:
    return Problem(404, "not-found", detail)


def conflict(detail: str) -> Problem:
    return Problem(409, "conflict", detail)


def invalid(detail: str) -> Problem:
    return Problem(422, "invalid", detail)


def from_rejected(rejected: Rejected) -> Problem:
    """Returns 400 for bytes that are not JSON, and 422 for JSON that is not valid."""
    return Problem(400 if rejected.reason == "undecodable" else 422, rejected.reason, rejected.detail)


def from_retryable(retryable: Retryable) -> Problem:
    return Problem(503, "unavailable", str(retryable), {"Retry-After": str(RETRY_AFTER_S)})


def from_http_exception(request: Request, raised: HTTPException) -> Problem:
    """Converts errors of the framework, such as an unknown path or method."""
    if raised.status_code == HTTPStatus.NOT_FOUND:
        return not_found(f"there is no path {request.url.path!r}: /v1/openapi.json lists all")
    if raised.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = ", ".join(sorted(request.app.state.methods(request.url.path)))  # of all routes with this path
        return Problem(405, "method-not-allowed", f"this path allows {allowed}", {"Allow": allowed})
    status = HTTPStatus(raised.status_code)
    return Problem(status, slug(status.phrase), str(raised.detail), raised.headers)


def from_validation_error(raised: RequestValidationError) -> Problem:
    """Describes the fields and the expected values, but never the values received."""
    errors = (
        f"{'.'.join(map(str, error['loc']))}: {error['msg'].removeprefix('Value error, ')}" for error in raised.errors()
    )
    return invalid("; ".join(errors))


def from_overloaded(overloaded: Overloaded) -> Problem:
    return Problem(503, "overloaded", str(overloaded), {"Retry-After": str(OVERLOADED_RETRY_AFTER_S)})


INTERNAL_ERROR = Problem(500, "internal", "internal error: see the server's log for this request id")


def slug(phrase: str) -> str:
    return phrase.lower().replace(" ", "-")


def problem_response(request: Request, problem: Problem) -> Response:
    request_id = getattr(request.state, "request_id", None)
    details = ProblemDetails(
        type=TYPE_PREFIX + problem.code,
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
            return problem_response(request, raised)
        case Rejected():
            return problem_response(request, from_rejected(raised))
        case Overloaded():  # not logged: frequent under load, and counted by the request metrics
            return problem_response(request, from_overloaded(raised))
        case Retryable():
            log.warning("%s %s: %s", request.method, quote(request.url.path), raised)
            return problem_response(request, from_retryable(raised))
        case Misconfigured():
            log.error("%s %s: %s", request.method, quote(request.url.path), raised)
            return problem_response(request, Problem(500, "misconfigured", "the server is misconfigured: see its log"))
        case _:
            return problem_response(request, INTERNAL_ERROR)


async def handle_framework_error(request: Request, raised: Exception) -> Response:
    if isinstance(raised, RequestValidationError):
        return problem_response(request, from_validation_error(raised))
    assert isinstance(raised, HTTPException)
    return problem_response(request, from_http_exception(request, raised))


def install_error_handlers(app: FastAPI) -> None:
    """Makes every error of the app a problem response. The server logs unexpected errors with their traceback."""
    app.add_exception_handler(MemstreamError, handle_error)
    app.add_exception_handler(HTTPException, handle_framework_error)
    app.add_exception_handler(RequestValidationError, handle_framework_error)
    app.add_exception_handler(Exception, handle_error)
