"""A client of memstream's HTTP API in one file, to be copied into a chat service. It needs httpx, and nothing of memstream.

    async with Memstream("http://127.0.0.1:28080", key) as memstream:
        block = await memstream.context("what shall we cook?", "kitchen/ada", conversation_id="c1")
        async for event in memstream.events("kitchen/ada", after=place_kept):
            ...

What is busy or away (429, 503, a lost connection) is tried again, as long as the server asks for (`Retry-After`); changes bear an
`Idempotency-Key`, so that they are made once all the same. What remains wrong is raised:

Problem
├── Unauthorized  401: no valid key
├── Forbidden     403: the key may not do this there
├── NotFound      404
├── Conflict      409, 412: refused as things are now; read, and decide anew
├── Invalid       400, 413, 415, 422: the request itself is wrong
└── Unavailable   429, 5xx, or no answer: later, perhaps
"""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, fields
from types import TracebackType
from typing import Any, Literal, Self, TypeVar
from urllib.parse import quote
from uuid import uuid4

import httpx

T = TypeVar("T")
Json = dict[str, Any]
LONGEST_WAIT_S = 30.0
SILENCE_S = 45.0  # a stream tells that it lives every 15 s


@dataclass(frozen=True, kw_only=True)
class Memory:
    """What is remembered. `importance` is from 0 to 1; times are ISO 8601; fields that are not known yet are in `more`."""

    memory_id: str
    namespace: str
    kind: str
    text: str
    importance: float
    confidence: float
    version: int
    status: str
    created_at: str
    updated_at: str
    tags: tuple[str, ...] = ()
    context: str | None = None
    full_text: str | None = None
    event_time: str | None = None
    said_at: str | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    superseded_by: str | None = None
    pinned: bool = False
    expires_at: str | None = None
    told_by: tuple[str, ...] = ()
    sources: tuple[Json, ...] = ()
    more: Json = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Passage:
    """What was said, word for word: a message, or a part of a long one."""

    passage_id: str
    namespace: str
    conversation_id: str
    message_id: str
    speaker: str
    role: str
    said_at: str
    text: str
    more: Json = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Hit:
    """What was found: a `memory`, or with the tier `said` a `passage`. Scores are comparable within a tier; `more` has parts
    and what leads to the other tier, if asked for."""

    tier: Literal["memory", "said"]
    score: float
    memory: Memory | None = None
    passage: Passage | None = None
    more: Json = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Found:
    """Hits of both tiers, the best first; `degraded` says what could not be asked."""

    hits: tuple[Hit, ...]
    degraded: tuple[str, ...] = ()

    @property
    def memories(self) -> tuple[Memory, ...]:
        return tuple(hit.memory for hit in self.hits if hit.memory)

    @property
    def said(self) -> tuple[Passage, ...]:
        return tuple(hit.passage for hit in self.hits if hit.passage)


@dataclass(frozen=True, kw_only=True)
class Block:
    """`text` is for the prompt; `memories`, `said` and `messages` say what it was made of, for citations."""

    text: str
    tokens: int
    memories: tuple[Json, ...] = ()
    said: tuple[Json, ...] = ()
    messages: tuple[Json, ...] = ()
    more: Json = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What a system prompt always has to know; `version` names these bytes, `lines` say which memories each one rests on."""

    text: str
    version: str
    tokens: int = 0
    lines: tuple[Json, ...] = ()
    more: Json = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Settled:
    """What came of a change: `accepted`, `rejected` with its `reason`, or `pending`: `settled()` waits for it."""

    command_id: str
    namespace: str
    status: Literal["accepted", "rejected", "pending"]
    change: str | None = None
    memory_id: str | None = None
    sequence: int | None = None
    reason: str | None = None
    more: Json = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Event:
    """A change of a memory. Keep `place` with what you make of it: `after=place` goes on behind it.

    With `erased` nothing is left of what was told of the namespace up to `sequence`: forget it.
    """

    place: str
    type: str
    namespace: str
    sequence: int
    memory: Memory | None
    data: Json

    @property
    def erased(self) -> bool:
        return self.memory is None

    @property
    def change(self) -> str:
        """`created`, `reinforced`, `updated`, `superseded`, `deleted`, ..., `erased`."""
        return self.type.rpartition(".")[2]


class Problem(Exception):
    """An answer that is an error (RFC 9457). `word` names its kind, for programs; `request_id` finds it in the server's log."""

    def __init__(self, status: int, word: str, detail: str, request_id: str | None = None) -> None:
        super().__init__(f"{status} {word}: {detail}")
        self.status = status
        self.word = word
        self.detail = detail
        self.request_id = request_id


class Unauthorized(Problem): ...


class Forbidden(Problem): ...


class NotFound(Problem): ...


class Conflict(Problem): ...


class Invalid(Problem): ...


class Unavailable(Problem): ...


PROBLEMS: Mapping[int, type[Problem]] = {
    **{401: Unauthorized, 403: Forbidden, 404: NotFound, 409: Conflict, 412: Conflict, 429: Unavailable},
    **dict.fromkeys((400, 405, 413, 415, 422), Invalid),
}
PASSING = (429, 502, 503, 504)


class Memstream:
    """One client a process; it keeps connections open. `attempts` at each request at most; `sleep` takes seconds."""

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout_s: float = 15.0,
        attempts: int = 5,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._http = httpx.AsyncClient(base_url=url, headers=headers, timeout=timeout_s, transport=transport)
        self._timeout_s = timeout_s
        self._attempts = attempts
        self._sleep = sleep

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def search(
        self,
        text: str | None,
        *namespaces: str,
        tier: Literal["memories", "said", "both"] = "both",
        limit: int = 10,
        explain: bool = False,
        passages: Mapping[str, Any] | None = None,
        asked_at: str | None = None,
        related: bool = False,
        **filters: Any,
    ) -> Found:
        """What fits a text, of memories and of what was said; without a text the most important memories.

        `filters` of memories are `kinds`, `tags`, `min_importance`, ...; `passages` are those of what was said: `speakers`,
        `conversations`, `said_from`, `said_to`. Filters of one tier leave the other out.
        """
        asked = {
            "namespaces": namespaces,
            "text": text,
            "in": tier,
            "filters": filters,
            "passage_filters": passages,
            "asked_at": asked_at,
            "limit": limit,
            "explain": explain,
            "related": related,
        }
        found = await self._json("POST", "/v1/search", json={name: value for name, value in asked.items() if value})
        return Found(hits=tuple(map(hit, found["hits"])), degraded=tuple(found.get("degraded", ())))

    async def passage(self, passage_id: str) -> Passage:
        """What was said, with the memories that come from it under `more`. Raises NotFound, also for one that the key may not
        read."""
        told = await self._json("GET", f"/v1/passages/{part(passage_id)}")
        return made(Passage, told["passage"] | {"memories": tuple(map(memory, told["memories"]))})

    async def context(
        self, text: str | None, *namespaces: str, conversation_id: str | None = None, **asked: Any
    ) -> Block:
        """What a prompt needs to know: fitting memories, what was said earlier, and what was just said and is not a memory yet.

        `asked` are `max_tokens`, `max_memories`, `max_said`, `cite`, `filters`, ...
        """
        wanted = asked | {"text": text, "namespaces": namespaces, "conversation_id": conversation_id}
        body = {name: value for name, value in wanted.items() if value not in (None, ())}
        return made(Block, await self._json("POST", "/v1/context", json=body))

    async def profile(self, namespace: str) -> Profile:
        """Hard constraints, standing wishes, name, languages, work and pinned memories: for the system prompt, whatever is asked.
        With `context(..., profile=True)` a block does not repeat them."""
        return made(Profile, await self._json("GET", "/v1/profile", params={"namespace": namespace}))

    async def kinds(self, namespace: str) -> tuple[Json, ...]:
        """The kinds that memories have or may have, each with `name`, and with `description`, `icon` and `memories` if known."""
        return tuple((await self._json("GET", "/v1/kinds", params={"namespace": namespace}))["kinds"])

    async def get(self, memory_id: str) -> Memory:
        """Raises NotFound, also for a memory that the key may not read."""
        return memory(await self._json("GET", f"/v1/memories/{part(memory_id)}"))

    async def memories(self, namespace: str, **asked: Any) -> AsyncIterator[Memory]:
        """All memories of a namespace, page by page; `asked` are `kind`, `tag`, `status`, `order`, `detail`, ..."""
        cursor = None
        while True:
            params = asked | {"namespace": namespace} | ({"cursor": cursor} if cursor else {})
            page = await self._json("GET", "/v1/memories", params=params)
            for each in page["memories"]:
                yield memory(each)
            if (cursor := page.get("next")) is None:
                return

    async def create(self, namespace: str, text: str, **fields: Any) -> Settled:
        """A memory made by hand; one that is known is reinforced. `fields` are `kind`, `tags`, `importance`, `full_text`, ..."""
        return await self._change("POST", "/v1/memories", fields | {"namespace": namespace, "text": text})

    async def update(self, memory_id: str, **changed: Any) -> Settled:
        return await self._change("PATCH", f"/v1/memories/{part(memory_id)}", changed)

    async def delete(self, memory_id: str) -> Settled:
        """Its versions stay, and `undo` brings it back."""
        return await self._change("DELETE", f"/v1/memories/{part(memory_id)}")

    async def undo(self, memory_id: str, version: int | None = None) -> Settled:
        """Takes back the latest change, or the one that made `version`."""
        return await self._change(
            "POST", f"/v1/memories/{part(memory_id)}/undo", {"version": version} if version is not None else {}
        )

    async def settled(self, change: Settled, within_s: float = 60.0) -> Settled:
        """A change that was pending, once it is carried out. Raises TimeoutError."""
        async with asyncio.timeout(within_s):
            while change.status == "pending":
                await self._sleep(0.5)
                params = {"namespace": change.namespace}
                change = made(
                    Settled, await self._json("GET", f"/v1/commands/{part(change.command_id)}", params=params)
                )
        return change

    async def mark(self, conversation_id: str, message_id: str, importance: str) -> None:
        """What a message that was sent is to be in its context: `pinned`, `important`, `expendable`, or `normal` again."""
        body = {"message_id": message_id, "importance": importance}
        await self._json("POST", f"/v1/conversations/{part(conversation_id)}/mark", json=body)

    async def choose(self, conversation_id: str, **settings: Any) -> None:
        """Settings for one conversation's context, as far as its policy lets them be chosen; none go back to the policy's."""
        await self._json("PUT", f"/v1/conversations/{part(conversation_id)}/settings", json=settings)

    async def tools(self, *namespaces: str) -> list[Json]:
        """Tools over memories for the `tools` of a request to Anthropic's Messages API."""
        found: list[Json] = (await self._json("GET", "/v1/tools", params={"namespace": namespaces}))["tools"]
        return found

    async def use_tool(self, used: Any, *namespaces: str) -> Json:
        """The `tool_result` block that answers a `tool_use` block."""
        params, given = {"namespace": namespaces}, {"input": used.input}
        result = await self._json("POST", f"/v1/tools/{part(used.name)}", params=params, json=given)
        return {"type": "tool_result", "tool_use_id": used.id, **result}

    async def events(
        self, *namespaces: str, after: str | None = None, since: Literal["now", "beginning"] = "now"
    ) -> AsyncIterator[Event]:
        """What happens to memories, for ever, each namespace in its order, every event once. A lost connection is taken up
        again behind the last event. Raises Problem for what does not pass, Conflict when `after` is of another store."""
        place, failures = after, 0
        while True:
            try:
                async with self._stream(namespaces, place, since) as frames:
                    async for place, data in frames:
                        failures = 0
                        if data:
                            yield event(place, json.loads(data))
            except (Unavailable, httpx.TransportError):
                failures += 1
            await self._sleep(backoff_s(failures))

    async def place(self, *namespaces: str) -> str:
        """Where events are now: `events(..., after=place)` tells of everything from here on."""
        async with self._stream(namespaces, None, "now") as frames:
            place, _ = await anext(frames)
        return place

    @asynccontextmanager
    async def _stream(
        self, namespaces: tuple[str, ...], place: str | None, since: str
    ) -> AsyncIterator[AsyncIterator[tuple[str, str]]]:
        headers = {} if place is None else {"Last-Event-ID": place}
        params = {"namespace": namespaces, "since": since}
        timeout = httpx.Timeout(self._timeout_s, read=SILENCE_S)
        async with self._http.stream("GET", "/v1/events", params=params, headers=headers, timeout=timeout) as answer:
            if answer.is_error:
                await answer.aread()
                raise problem(answer)
            yield frames(answer.aiter_bytes())

    async def _change(self, method: str, path: str, body: Json | None = None) -> Settled:
        headers = {"Idempotency-Key": str(uuid4())}
        answer = await self._json(method, path, headers=headers, **({} if body is None else {"json": body}))
        return made(Settled, answer)

    async def _json(self, method: str, path: str, **request: Any) -> Json:
        for attempt in range(1, self._attempts + 1):
            try:
                answer = await self._http.request(method, path, **request)
            except httpx.TransportError as exc:
                failed: Problem = Unavailable(0, "unreachable", repr(exc))
                wait_s = backoff_s(attempt)
            else:
                if answer.is_success:
                    told: Json = answer.json()
                    return told
                failed, wait_s = problem(answer), asked_to_wait_s(answer, attempt)
                if answer.status_code not in PASSING:
                    break
            if attempt < self._attempts:
                await self._sleep(wait_s)
        raise failed


def part(name: str) -> str:
    """Of a path. Servers take an escaped slash for a slash, so what has one would name something else: raises Invalid."""
    if "/" in name or name in ("", ".", ".."):
        raise Invalid(422, "invalid", f"{name!r} is no id")
    return quote(name, safe="")


def problem(answer: httpx.Response) -> Problem:
    """Of an answer that is an error, also where a proxy gave it."""
    try:
        said = answer.json()
    except ValueError:
        said = {}
    said = said if isinstance(said, dict) else {}
    kind = PROBLEMS.get(answer.status_code, Unavailable if answer.is_server_error else Problem)
    word = str(said.get("type", "")).rpartition(":")[2] or "unknown"
    return kind(answer.status_code, word, str(said.get("detail", answer.reason_phrase)), said.get("request_id"))


def asked_to_wait_s(answer: httpx.Response, attempt: int) -> float:
    asked = answer.headers.get("Retry-After", "")
    return min(float(asked), LONGEST_WAIT_S) if asked.isdecimal() else backoff_s(attempt)


def backoff_s(failures: int) -> float:
    """0.1 to 0.2 s after the first, doubling to half a minute; many clients do not come back at the same moment."""
    return float(min(0.2 * 2 ** min(failures, 10), LONGEST_WAIT_S) * random.uniform(0.5, 1.0))


async def frames(received: AsyncIterator[bytes]) -> AsyncIterator[tuple[str, str]]:
    """The place and the data of each server-sent event. Lines end with a line feed alone: texts may hold what Unicode, and so
    httpx's `aiter_lines`, takes for an end of a line."""
    place, data, rest = "", [], b""
    async for chunk in received:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            name, _, value = line.rstrip(b"\r").decode().partition(": ")
            if name == "id":
                place = value
            elif name == "data":
                data.append(value)
            elif not line.strip() and (place or data):
                yield place, "\n".join(data)
                data = []


def event(place: str, told: Json) -> Event:
    data = told["data"]
    about = data.get("memory")
    return Event(
        place=place,
        type=told["type"],
        namespace=data["namespace"],
        sequence=data["sequence"],
        memory=memory(about) if about else None,
        data=data,
    )


def hit(told: Json) -> Hit:
    about = told.get("memory"), told.get("passage")
    return made(
        Hit,
        told
        | {"memory": memory(about[0]) if about[0] else None, "passage": made(Passage, about[1]) if about[1] else None},
    )


def memory(told: Json) -> Memory:
    return made(Memory, told)


def made(shape: type[T], told: Json) -> T:
    """A dataclass of what was told; what it does not know goes into `more`, if it has that."""
    known = {each.name for each in fields(shape)}  # type: ignore[arg-type]
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in told.items() if name in known}
    unknown = {name: value for name, value in told.items() if name not in known}
    return shape(**given, **({"more": unknown} if "more" in known else {}))
