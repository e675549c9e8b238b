"""A client of memstream in one file. Copy it into a chat service. It needs httpx and nothing of memstream.

    async with Memstream("http://127.0.0.1:28080", key) as memstream:
        block = await memstream.context("what shall we cook?", "kitchen/ada", conversation_id="c1")
        async for event in memstream.events("kitchen/ada", after=saved_position):
            ...

The client retries requests that fail for now (429, 502 to 504, a lost connection) and waits as long as `Retry-After` says.
Changes carry an `Idempotency-Key`, so a retried change happens once. Other failures raise a subclass of Problem:

Problem
├── Unauthorized  401: no valid key
├── Forbidden     403: the key lacks the right
├── NotFound      404
├── Conflict      409, 412: not possible in the current state; read it and decide again
├── Invalid       400, 405, 413, 415, 422: the request is wrong
└── Unavailable   429, 5xx or no answer, after all attempts
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
MAX_WAIT_S = 30.0
STREAM_TIMEOUT_S = 45.0  # the server sends a comment every 15 s


@dataclass(frozen=True, kw_only=True)
class Memory:
    """A memory. `importance` and `confidence` are from 0 to 1, times are ISO 8601. Fields that this client does not know are in
    `more`, here and in the other classes."""

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
    """A message, or a part of a long one, word for word."""

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
    """A search hit: a `memory` (tier `memory`) or a `passage` (tier `said`).

    `neighbours` are messages that make a short passage understood; `message_ids` are those of the passage and its neighbours, in
    the order they were sent. Scores are comparable within one tier of one answer. `more` has the parts of the score (`explain`)
    and links to the other tier (`related`).
    """

    tier: Literal["memory", "said"]
    score: float
    memory: Memory | None = None
    passage: Passage | None = None
    neighbours: tuple[Passage, ...] = ()
    message_ids: tuple[str, ...] = ()
    more: Json = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """Hits of both tiers, the best first. `degraded` names the services that did not answer."""

    hits: tuple[Hit, ...]
    degraded: tuple[str, ...] = ()

    @property
    def memories(self) -> tuple[Memory, ...]:
        return tuple(hit.memory for hit in self.hits if hit.memory)

    @property
    def passages(self) -> tuple[Passage, ...]:
        return tuple(hit.passage for hit in self.hits if hit.passage)


@dataclass(frozen=True, kw_only=True)
class Block:
    """A context block: `text` goes into the prompt; `memories`, `said` and `messages` are its sources, for citations."""

    text: str
    tokens: int
    memories: tuple[Json, ...] = ()
    said: tuple[Json, ...] = ()
    messages: tuple[Json, ...] = ()
    more: Json = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Profile:
    """The part of a system prompt that holds for every question. `version` changes with the text; `lines` name the memories of
    each line."""

    text: str
    version: str
    tokens: int = 0
    lines: tuple[Json, ...] = ()
    more: Json = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ChangeResult:
    """The outcome of a change: `accepted`, `rejected` with a `reason`, or `pending`, for which `wait_for()` waits."""

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
    """A change of a memory. Store `position` together with the effect of the event; `events(after=position)` resumes behind it.

    `erased` means that memories of the namespace were erased: discard everything of it up to `sequence`, and read the memories
    again: those of other people may remain.
    """

    position: str
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
    """An error (RFC 9457). `code` is the last part of its type, such as `conflict`; `request_id` is in the server's log.
    `status` is 0 if there was no answer."""

    def __init__(self, status: int, code: str, detail: str, request_id: str | None = None) -> None:
        super().__init__(f"{status} {code}: {detail}")
        self.status = status
        self.code = code
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
RETRIED = (429, 502, 503, 504)


class Memstream:
    """The HTTP API. Use one client in a process: it keeps connections open. Times out after `timeout_s`, for each of `attempts`
    attempts; `sleep` takes seconds."""

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
    ) -> SearchResult:
        """Searches memories and messages. Without `text` it returns the most important memories.

        `filters` restrict memories: `kinds`, `tags`, `min_importance`, ... `passages` restricts messages: `speakers`,
        `conversations`, `said_from`, `said_to`. Filters of one tier leave the other tier out.
        """
        query = {
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
        body = {name: value for name, value in query.items() if value not in (None, (), {})}
        result = await self._json("POST", "/v1/search", json=body)
        return SearchResult(hits=tuple(map(hit, result["hits"])), degraded=tuple(result.get("degraded", ())))

    async def passage(self, passage_id: str) -> Passage:
        """A passage, with the memories made from it in `more["memories"]`. Raises NotFound, also without the right to read it."""
        body = await self._json("GET", f"/v1/passages/{path_segment(passage_id)}")
        return parse(Passage, body["passage"] | {"memories": tuple(map(memory, body["memories"]))})

    async def context(
        self, text: str | None, *namespaces: str, conversation_id: str | None = None, **options: Any
    ) -> Block:
        """The context block for a prompt: memories and earlier messages that fit `text`, and recent messages of the conversation
        that no memory has yet.

        Without `namespaces` they are those of the conversation's first user, or of `scope={"app_id": ..., "user_id": ...}`.
        Other `options` are `max_tokens`, `max_memories`, `max_said`, `cite`, `filters`, ...
        With `explain=True`, `more["left_out"]` lists what was left out, and why.
        """
        query = options | {"text": text, "namespaces": namespaces, "conversation_id": conversation_id}
        body = {name: value for name, value in query.items() if value not in (None, ())}
        return parse(Block, await self._json("POST", "/v1/context", json=body))

    async def profile(self, namespace: str) -> Profile:
        """Hard constraints, standing wishes, name, languages, work and pinned memories, for the system prompt.
        `context(..., profile=True)` does not repeat them."""
        return parse(Profile, await self._json("GET", "/v1/profile", params={"namespace": namespace}))

    async def kinds(self, namespace: str) -> tuple[Json, ...]:
        """The kinds of memories in the namespace: `name`, and if known `description`, `icon` and the number of `memories`."""
        return tuple((await self._json("GET", "/v1/kinds", params={"namespace": namespace}))["kinds"])

    async def get(self, memory_id: str) -> Memory:
        """A memory by its id. Raises NotFound, also without the right to read it."""
        return memory(await self._json("GET", f"/v1/memories/{path_segment(memory_id)}"))

    async def memories(self, namespace: str, **params: Any) -> AsyncIterator[Memory]:
        """All memories of a namespace. `params` are `kind`, `tag`, `status`, `order`, `detail`, `limit` (of a page), ..."""
        async for each in self._pages("/v1/memories", "memories", params | {"namespace": namespace}):
            yield memory(each)

    async def create(self, namespace: str, text: str, **fields: Any) -> ChangeResult:
        """Creates a memory, or reinforces one that says the same. `fields` are `kind`, `tags`, `importance`, `full_text`, ..."""
        return await self._change("POST", "/v1/memories", fields | {"namespace": namespace, "text": text})

    async def update(self, memory_id: str, **fields: Any) -> ChangeResult:
        """Changes `text`, `kind`, `tags`, ... of a memory. None clears `event_time`, `valid_from` or `valid_until`."""
        return await self._change("PATCH", f"/v1/memories/{path_segment(memory_id)}", fields)

    async def delete(self, memory_id: str) -> ChangeResult:
        """Deletes a memory. Its versions stay, and `undo` restores it."""
        return await self._change("DELETE", f"/v1/memories/{path_segment(memory_id)}")

    async def erase(self, memory_id: str, keep_messages: bool = False) -> ChangeResult:
        """Erases a memory for good, with its versions. Search hides its source messages, unless `keep_messages`; the archive
        keeps them."""
        body = {"keep_messages": keep_messages}
        return await self._change("POST", f"/v1/memories/{path_segment(memory_id)}/erase", body)

    async def undo(self, memory_id: str, version: int | None = None) -> ChangeResult:
        """Undoes the latest change, or the one that made `version`."""
        return await self._change(
            "POST", f"/v1/memories/{path_segment(memory_id)}/undo", {"version": version} if version is not None else {}
        )

    async def undo_wish(self, namespace: str, wish_id: str) -> ChangeResult:
        """Undoes a request to forget that ended no memory (`memstream.wish.unknown` on `memory.activity`): search finds the
        messages again."""
        return await self._change("POST", f"/v1/wishes/{path_segment(wish_id)}/undo", {"namespace": namespace})

    async def wait_for(self, change: ChangeResult, within_s: float = 60.0) -> ChangeResult:
        """The result of a pending change. Raises TimeoutError."""
        async with asyncio.timeout(within_s):
            while change.status == "pending":
                await self._sleep(0.5)
                params = {"namespace": change.namespace}
                change = parse(
                    ChangeResult,
                    await self._json("GET", f"/v1/commands/{path_segment(change.command_id)}", params=params),
                )
        return change

    async def conversations(self, namespace: str | None = None, **params: Any) -> AsyncIterator[Json]:
        """Conversations that the key may read, the one with the latest message first, with counts of messages and tokens. With a
        namespace, those that write to it. `params` are `user_id`, `phase` and `limit` (of a page)."""
        params |= {"namespace": namespace} if namespace else {}
        async for each in self._pages("/v1/conversations", "conversations", params):
            yield each

    async def messages(self, conversation_id: str, **params: Any) -> Json:
        """One page: `messages` of the conversation, and `next`, the `cursor` of the next page. `params` are `limit`, `order`
        (`oldest` or `newest`), and `cursor` or `around` (the id of the message in the middle of the page)."""
        return await self._json("GET", f"/v1/conversations/{path_part(conversation_id)}/messages", params=params)

    async def mark(self, conversation_id: str, message_id: str, importance: str) -> None:
        """Marks a sent message for pruning: `pinned`, `important`, `expendable` or `normal`."""
        body = {"message_id": message_id, "importance": importance}
        await self._json("POST", f"/v1/conversations/{path_part(conversation_id)}/mark", json=body)

    async def control(self, conversation_id: str, action: str) -> None:
        """Acts on a conversation's window: `flush` extracts waiting messages, `prune` and `clear` remove messages from the
        context, `restore` undoes the latest `prune` or `clear` within ten minutes."""
        params = {"confirm": True} if action == "clear" else {}
        await self._json(
            "POST", f"/v1/conversations/{path_part(conversation_id)}/{path_segment(action)}", params=params
        )

    async def set_conversation_settings(self, conversation_id: str, **settings: Any) -> None:
        """Replaces the conversation's own window settings; its policy says which ones are allowed. Without settings, the policy's
        apply again."""
        await self._json("PUT", f"/v1/conversations/{path_part(conversation_id)}/settings", json=settings)

    async def set_user_settings(
        self, user_id: str, *, tenant_id: str | None = None, app_id: str | None = None, **settings: Any
    ) -> None:
        """Replaces the window settings of all conversations of a user, of one tenant or app if given."""
        params = {name: value for name, value in (("tenant_id", tenant_id), ("app_id", app_id)) if value is not None}
        await self._json("PUT", f"/v1/users/{path_part(user_id)}/settings", params=params, json=settings)

    async def tools(self, *namespaces: str) -> list[Json]:
        """Memory tools, for `tools` of a request to Anthropic's Messages API."""
        tools: list[Json] = (await self._json("GET", "/v1/tools", params={"namespace": namespaces}))["tools"]
        return tools

    async def use_tool(self, tool_use: Any, *namespaces: str) -> Json:
        """Runs a `tool_use` block of a model's reply and returns the `tool_result` block."""
        params, body = {"namespace": namespaces}, {"input": tool_use.input}
        result = await self._json("POST", f"/v1/tools/{path_segment(tool_use.name)}", params=params, json=body)
        return {"type": "tool_result", "tool_use_id": tool_use.id, **result}

    async def events(
        self, *namespaces: str, after: str | None = None, since: Literal["now", "beginning"] = "now"
    ) -> AsyncIterator[Event]:
        """Changes of memories, without end: every event once, in order within a namespace. Reconnects behind the latest event.
        Raises Conflict if `after` comes from another store, and Problem for other errors that a retry does not help."""
        position, failures = after, 0
        while True:
            try:
                async with self._stream(namespaces, position, since) as frames:
                    async for position, data in frames:
                        failures = 0
                        if data:
                            yield event(position, json.loads(data))
            except (Unavailable, httpx.TransportError):
                failures += 1
            await self._sleep(backoff_s(failures))

    async def latest_position(self, *namespaces: str) -> str:
        """The position of the latest event: `events(..., after=position)` yields what happens from now on."""
        async with self._stream(namespaces, None, "now") as frames:
            position, _ = await anext(frames)
        return position

    @asynccontextmanager
    async def _stream(
        self, namespaces: tuple[str, ...], position: str | None, since: str
    ) -> AsyncIterator[AsyncIterator[tuple[str, str]]]:
        headers = {} if position is None else {"Last-Event-ID": position}
        params = {"namespace": namespaces, "since": since}
        timeout = httpx.Timeout(self._timeout_s, read=STREAM_TIMEOUT_S)
        async with self._http.stream("GET", "/v1/events", params=params, headers=headers, timeout=timeout) as answer:
            if answer.is_error:
                await answer.aread()
                raise problem(answer)
            yield frames(answer.aiter_bytes())

    async def _pages(self, path: str, name: str, params: Json) -> AsyncIterator[Json]:
        cursor = None
        while True:
            page = await self._json("GET", path, params=params | ({"cursor": cursor} if cursor else {}))
            for each in page[name]:
                yield each
            if (cursor := page.get("next")) is None:
                return

    async def _change(self, method: str, path: str, body: Json | None = None) -> ChangeResult:
        headers = {"Idempotency-Key": str(uuid4())}
        answer = await self._json(method, path, headers=headers, **({} if body is None else {"json": body}))
        return parse(ChangeResult, answer)

    async def _json(self, method: str, path: str, **request: Any) -> Json:
        for attempt in range(1, self._attempts + 1):
            try:
                answer = await self._http.request(method, path, **request)
            except httpx.TransportError as exc:
                failed: Problem = Unavailable(0, "unreachable", repr(exc))
                wait_s = backoff_s(attempt)
            else:
                if answer.is_success:
                    body: Json = answer.json()
                    return body
                failed, wait_s = problem(answer), retry_after_s(answer, attempt)
                if answer.status_code not in RETRIED:
                    break
            if attempt < self._attempts:
                await self._sleep(wait_s)
        raise failed


def path_segment(name: str) -> str:
    """Escapes the id of a memory, a passage, a wish or a command for a path. Raises Invalid for a slash, which servers read as a
    separator even if it is escaped."""
    if "/" in name:
        raise Invalid(422, "invalid", f"{name!r} is not an id")
    return path_part(name)


def path_part(name: str) -> str:
    """Escapes the id of a conversation or of a user for a path. They may contain slashes. Raises Invalid for other ids that
    would change the path."""
    if name in ("", ".", ".."):
        raise Invalid(422, "invalid", f"{name!r} is not an id")
    return quote(name, safe="")


def problem(answer: httpx.Response) -> Problem:
    """The error of a response, which may come from a proxy and not be a problem document."""
    try:
        body = answer.json()
    except ValueError:
        body = {}
    body = body if isinstance(body, dict) else {}
    kind = PROBLEMS.get(answer.status_code, Unavailable if answer.is_server_error else Problem)
    code = str(body.get("type", "")).rpartition(":")[2] or "unknown"
    return kind(answer.status_code, code, str(body.get("detail", answer.reason_phrase)), body.get("request_id"))


def retry_after_s(answer: httpx.Response, attempt: int) -> float:
    value = answer.headers.get("Retry-After", "")
    return min(float(value), MAX_WAIT_S) if value.isdecimal() else backoff_s(attempt)


def backoff_s(failures: int) -> float:
    """0.1 to 0.2 s after the first failure, doubling to 30 s. The random part spreads the retries of many clients."""
    return float(min(0.2 * 2 ** min(failures, 10), MAX_WAIT_S) * random.uniform(0.5, 1.0))


async def frames(received: AsyncIterator[bytes]) -> AsyncIterator[tuple[str, str]]:
    """Id and data of each server-sent event. Splits lines at line feeds only: httpx's `aiter_lines` also splits at other line
    ends of Unicode, which texts may contain."""
    position, data, rest = "", [], b""
    async for chunk in received:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            name, _, value = line.rstrip(b"\r").decode().partition(": ")
            if name == "id":
                position = value
            elif name == "data":
                data.append(value)
            elif not line.strip() and (position or data):
                yield position, "\n".join(data)
                data = []


def event(position: str, body: Json) -> Event:
    data = body["data"]
    changed = data.get("memory")
    return Event(
        position=position,
        type=body["type"],
        namespace=data["namespace"],
        sequence=data["sequence"],
        memory=memory(changed) if changed else None,
        data=data,
    )


def hit(body: Json) -> Hit:
    found, said = body.get("memory"), body.get("passage")
    parts = {
        "memory": memory(found) if found else None,
        "passage": parse(Passage, said) if said else None,
        "neighbours": tuple(parse(Passage, each) for each in body.get("neighbours", ())),
        "message_ids": tuple(body.get("message_ids", ())),
    }
    return parse(Hit, body | parts)


def memory(body: Json) -> Memory:
    return parse(Memory, body)


def parse(shape: type[T], body: Json) -> T:
    """Makes a dataclass; fields that it does not have go into `more`, if it has that."""
    names = {each.name for each in fields(shape)}  # type: ignore[arg-type]
    known = {name: tuple(value) if isinstance(value, list) else value for name, value in body.items() if name in names}
    unknown = {name: value for name, value in body.items() if name not in names}
    return shape(**known, **({"more": unknown} if "more" in names else {}))
