"""Responses begin before their deadline or fail with an error."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI, Request
from starlette.responses import StreamingResponse

from agents.api.http.deadline import DeadlineMiddleware
from tests.fakes.clock import VirtualLoop

app = FastAPI()
app.add_middleware(DeadlineMiddleware, timeout_s=20)


@app.get("/after/{seconds}")
async def after(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "done"


@app.get("/broken")
async def broken() -> str:
    raise TimeoutError("of another kind")


@app.get("/stream")
async def stream() -> StreamingResponse:
    async def parts() -> AsyncIterator[str]:
        for _ in range(3):
            await asyncio.sleep(15)
            yield "part "

    return StreamingResponse(parts())


@app.post("/upload")
async def upload(request: Request) -> int:
    return len(await request.body())


def response_to(method: str, path: str, **options) -> httpx.Response:
    async def scenario() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://api") as client:
            return await client.request(method, path, **options)

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(scenario())


def test_a_request_over_the_deadline_gets_503_with_retry_after():
    assert response_to("GET", "/after/19").json() == "done"
    late = response_to("GET", "/after/21")
    assert (late.status_code, late.headers["content-type"]) == (503, "application/problem+json")
    assert "retry-after" in late.headers


def test_the_deadline_does_not_cut_off_a_started_stream_or_an_upload_in_progress():
    assert response_to("GET", "/stream").text == "part " * 3

    async def slowly() -> AsyncIterator[bytes]:
        for _ in range(3):
            await asyncio.sleep(15)
            yield b"x"

    assert response_to("POST", "/upload", content=slowly()).json() == 3

    async def stalled() -> AsyncIterator[bytes]:
        await asyncio.sleep(60)
        yield b"x"

    assert response_to("POST", "/upload", content=stalled()).status_code == 503


def test_a_timeout_error_raised_by_the_handler_is_not_taken_for_the_deadline():
    with pytest.raises(TimeoutError, match="another kind"):
        response_to("GET", "/broken")
