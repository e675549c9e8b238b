"""A local Anthropic Messages server, for tests and the demonstration: it checks requests as the API does, answers them by
rules, counts its prompt cache, and has the API's faults on demand. It listens on loopback only."""

import asyncio
import json
import re
from collections import deque
from datetime import datetime
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from agents.llm.excerpt import most_telling, tellings
from agents.llm.offline import findings
from agents.llm.rules.relations import relate
from schemas.memories import Memory
from schemas.requests import SliceMessage

KEY = "sk-ant-EXAMPLE-not-a-key-0000"
MODELS = ("claude-test-1", "claude-test-2")
VERSION = re.compile(r"\d{4}-\d{2}-\d{2}")
CHARS_PER_TOKEN = 4
SUMMARY_TOKENS = 100
# Status, error type and message as the API words them.
FAULTS = {
    "bad_request": (400, "invalid_request_error", "messages: text content blocks must be non-empty"),
    "no_structured_outputs": (400, "invalid_request_error", "output_config.format: not supported by this model"),
    "no_credit": (400, "invalid_request_error", "Your credit balance is too low to access the API."),
    "unauthorized": (401, "authentication_error", "invalid x-api-key"),
    "forbidden": (403, "permission_error", "Your API key does not have permission to use the specified resource."),
    "not_found": (404, "not_found_error", "model: no-such-model"),
    "too_large": (413, "request_too_large", "Request exceeds the maximum size"),
    "rate_limited": (429, "rate_limit_error", "This request would exceed your organization's rate limit"),
    "server_error": (500, "api_error", "Internal server error"),
    "overloaded": (529, "overloaded_error", "Overloaded"),
}


class MessagesServer:
    """`async with MessagesServer() as server:`; point the SDK at `server.url` with the key `KEY`.

    `script` queues what the next requests get, one each: a name in FAULTS, `slow`, `truncated`, `refusal`,
    `context_exceeded`, or `text:` and the text to answer. With nothing queued the slice is answered by the offline rules,
    or summarised by them.
    `seen` keeps the bodies of the requests, `headers` their headers.
    """

    def __init__(self, port: int = 0, retry_after: str = "0.01") -> None:
        self.seen: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self._script: deque[str] = deque()
        self._cached: set[str] = set()
        self._retry_after = retry_after
        self._port = port
        self._closing = asyncio.Event()
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def script(self, *steps: str) -> None:
        self._script.extend(steps)

    async def start(self) -> None:
        app = web.Application(client_max_size=32 * 1024 * 1024)
        app.router.add_post("/v1/messages", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        self._port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        self._closing.set()
        if self._runner is not None:
            await self._runner.cleanup()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def _answer(self, request: web.Request) -> web.Response:
        wrong = wrong_headers(request)
        if wrong is not None:
            return self._fault(*wrong)
        body = await request.json()
        self.seen.append(body)
        self.headers.append(dict(request.headers))
        wrong = wrong_body(body)
        if wrong is not None:
            return self._fault(*wrong)
        step = self._script.popleft() if self._script else "rules"
        if step in FAULTS:
            return self._fault(*FAULTS[step])
        if step == "slow":
            await self._closing.wait()
        return web.json_response(self._message(body, step), headers={"request-id": f"req_{len(self.seen)}"})

    def _fault(self, status: int, kind: str, text: str) -> web.Response:
        headers = {"request-id": f"req_{len(self.seen)}"}
        if status == 429 or status >= 500:
            headers["retry-after"] = self._retry_after
        error = {"type": "error", "error": {"type": kind, "message": text}, "request_id": headers["request-id"]}
        return web.json_response(error, status=status, headers=headers)

    def _message(self, body: dict[str, Any], step: str) -> dict[str, Any]:
        text, stop = replied(body, step)
        return {
            "id": f"msg_{len(self.seen):04d}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [{"type": "text", "text": text}] if text else [],
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": self._usage(body, text),
        }

    def _usage(self, body: dict[str, Any], text: str) -> dict[str, int]:
        """Blocks up to the last one with cache_control are written once, and read from then on; a schema is input as well."""
        blocks = body.get("system", [])
        marked = [index for index, block in enumerate(blocks) if "cache_control" in block]
        split = marked[-1] + 1 if marked else 0
        prefix = "".join(block["text"] for block in blocks[:split])
        rest = [block["text"] for block in blocks[split:]]
        fresh = "".join(rest) + json.dumps(body["messages"]) + json.dumps(body["output_config"]["format"]["schema"])
        read = prefix in self._cached
        if prefix:
            self._cached.add(prefix)
        return {
            "input_tokens": tokens(fresh),
            "output_tokens": tokens(text),
            "cache_read_input_tokens": tokens(prefix) if read else 0,
            "cache_creation_input_tokens": 0 if read else tokens(prefix),
        }


def tokens(text: str) -> int:
    return -(-len(text) // CHARS_PER_TOKEN)


def wrong_headers(request: web.Request) -> tuple[int, str, str] | None:
    # The API takes the key under either name; which one the SDK uses depends on its version.
    if KEY not in (request.headers.get("x-api-key"), request.headers.get("authorization", "").removeprefix("Bearer ")):
        return FAULTS["unauthorized"]
    if not VERSION.fullmatch(request.headers.get("anthropic-version", "")):
        return 400, "invalid_request_error", "anthropic-version: header is required, a date"
    if request.content_type != "application/json":
        return 400, "invalid_request_error", "content-type: must be application/json"
    return None


def wrong_body(body: dict[str, Any]) -> tuple[int, str, str] | None:
    """The API's checks on the parts of a request that memstream uses."""
    if body.get("model") not in MODELS:
        return 404, "not_found_error", f"model: {body.get('model')}"
    if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        return 400, "invalid_request_error", "max_tokens: must be a positive integer"
    messages = body.get("messages") or []
    if not messages or messages[0].get("role") != "user" or any(not message.get("content") for message in messages):
        return 400, "invalid_request_error", "messages: must begin with a user message and have content"
    unknown = set(body) - {"model", "max_tokens", "messages", "system", "output_config"}
    if unknown:
        return 400, "invalid_request_error", f"{sorted(unknown)[0]}: Extra inputs are not permitted"
    return wrong_format(body.get("output_config", {}).get("format"))


def wrong_format(wanted: dict[str, Any] | None) -> tuple[int, str, str] | None:
    """Structured outputs want closed objects and none of the keywords that a grammar cannot hold."""
    if wanted is None or wanted.get("type") != "json_schema":
        return 400, "invalid_request_error", "output_config.format: must be a json_schema"
    open_objects = [schema for schema in nested(wanted["schema"]) if schema.get("type") == "object"]
    if any(schema.get("additionalProperties") is not False for schema in open_objects):
        return 400, "invalid_request_error", "output_config.format.schema: additionalProperties must be false"
    unsupported = {"minimum", "maximum", "minLength", "maxLength", "maxItems"}
    for schema in nested(wanted["schema"]):
        if unsupported & set(schema):
            return 400, "invalid_request_error", "output_config.format.schema: unsupported keyword"
    return None


def nested(schema: object) -> list[dict[str, Any]]:
    if isinstance(schema, list):
        return [each for item in schema for each in nested(item)]
    if not isinstance(schema, dict):
        return []
    return [schema, *(each for value in schema.values() for each in nested(value))]


def replied(body: dict[str, Any], step: str) -> tuple[str, str]:
    """The text and the stop reason."""
    if step.startswith("text:"):
        return step.removeprefix("text:"), "end_turn"
    if step == "refusal":
        return "", "refusal"
    if step == "context_exceeded":
        return "", "model_context_window_exceeded"
    text = json.dumps(answered(body), ensure_ascii=False)
    return (text[: len(text) // 2], "max_tokens") if step == "truncated" else (text, "end_turn")


def answered(body: dict[str, Any]) -> dict[str, Any]:
    prompt = body["messages"][0]["content"]
    if "summary" in body["output_config"]["format"]["schema"]["properties"]:
        return {"summary": summed_up(prompt)}
    return {"memories": by_rules(prompt)}


def summed_up(prompt: str) -> str:
    """What was said before, and what the offline provider would tell of the transcript."""
    said = tuple(spoken(line) for line in fenced(prompt, "transcript"))
    (earlier,) = fenced(prompt, "earlier")
    latest = " ".join(most_telling(list(tellings(said)), SUMMARY_TOKENS, tokens))
    return f"{earlier} {latest}".strip()


def by_rules(prompt: str) -> list[dict[str, Any]]:
    """What the offline rules find in the prompt's transcript, in the shape that the prompt asks for."""
    known = [remembered(line) for line in fenced(prompt, "memories")]
    said = [spoken(line) for line in fenced(prompt, "transcript")]
    return [
        {
            "kind": finding.kind,
            "text": finding.text,
            "messages": [number],
            "confidence": finding.confidence,
            "importance": finding.importance,
            "kinds": [],
            "tags": list(finding.tags),
            "context": None,
            "full_text": None,
            "event_time": finding.event_time.isoformat() if finding.event_time else None,
            "language": language,
            "repeats": one_based(relate(finding, known).repeats),
            "refines": None,
            "contradicts": one_based(relate(finding, known).contradicts),
        }
        for number, message in enumerate(said, 1)
        for language, finding in findings(message)
    ]


def one_based(index: int | None) -> int | None:
    return None if index is None else index + 1


def fenced(prompt: str, name: str) -> list[Any]:
    inside = prompt.split(f"<{name}>\n")[1].split(f"</{name}>")[0]
    return [json.loads(line) for line in inside.split("\n") if line]  # a JSON string may hold other line breaks


def spoken(line: dict[str, Any]) -> SliceMessage:
    return SliceMessage(
        message_id=str(line["n"]),
        role=line["role"],
        timestamp=datetime.fromisoformat(line["at"]),
        content=line["text"],
        position=line["n"],
    )


def remembered(line: dict[str, Any]) -> Memory:
    moment = datetime.fromisoformat("2026-01-01T00:00:00+00:00")
    return Memory(
        memory_id=str(line["id"]),
        namespace="",
        kind=line["kind"],
        text=line["text"],
        importance=0.5,
        confidence=0.5,
        version=1,
        sequence=1,
        status="active",
        created_at=moment,
        updated_at=moment,
        created_by="",
    )
