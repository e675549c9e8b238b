"""Sends requests repeatedly and times each response."""

import asyncio
import statistics
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from schemas import codec
from sinks.embeddings.port import Embedder
from sinks.vectors.port import Vector

WHOLE = (200, 201)  # 202: what comes of it is not known yet


class Answered(Struct, frozen=True):
    """A response, read to its end."""

    status: int
    content: bytes


class Client:
    """Asks the API. What it takes itself is taken from who answers, on the same cores: httpx would take five times as much."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def get(self, path: str, **parameters: Any) -> Answered:
        async with self._session.get(path, params=parameters) as answer:
            return Answered(answer.status, await answer.read())

    async def post(self, path: str, body: Mapping[str, Any]) -> Answered:
        async with self._session.post(path, data=codec.encode(body)) as answer:
            return Answered(answer.status, await answer.read())

    async def post_lines(self, path: str, lines: str, **parameters: Any) -> Answered:
        kind = {"Content-Type": "application/x-ndjson"}
        async with self._session.post(path, params=parameters, data=lines.encode(), headers=kind) as answer:
            return Answered(answer.status, await answer.read())


@asynccontextmanager
async def client(address: str, token: str, timeout_s: float = 30.0) -> AsyncIterator[Client]:
    """With as many connections as there are questions under way."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    limits, timeout = aiohttp.TCPConnector(limit=0), aiohttp.ClientTimeout(total=timeout_s)
    async with aiohttp.ClientSession(address, connector=limits, timeout=timeout, headers=headers) as session:
        yield Client(session)


class Latencies:
    """In seconds, of answers that were whole; those that are of a part (`degraded`), and failed ones by how, are counted."""

    def __init__(self) -> None:
        self.took_s: list[float] = []
        self.degraded = 0
        self.failures: Counter[str] = Counter()

    async def take(self, asking: Awaitable[Any], since: float) -> None:
        try:
            answer = await asking
        except (aiohttp.ClientError, TimeoutError) as exc:
            self.failures[type(exc).__name__] += 1
            return
        took_s = time.perf_counter() - since
        if isinstance(answer, Answered) and answer.status not in WHOLE:
            self.failures[str(answer.status)] += 1
        elif degraded(answer):
            self.degraded += 1
        else:
            self.took_s.append(took_s)

    def as_json(self) -> dict[str, Any]:
        """Without percentiles where hardly any answer was whole, and without a list of failures where there were none."""
        parts = statistics.quantiles(self.took_s, n=100) if len(self.took_s) > 1 else []
        percentiles = {f"p{each}_ms": round(parts[each - 1] * 1e3, 1) for each in (50, 95, 99) if parts}
        counts = {"answers": len(self.took_s), "degraded": self.degraded, "failed": self.failures.total()}
        return percentiles | counts | ({"failures": dict(self.failures)} if self.failures else {})


class Partly(Struct):
    """The parts of a response that were unavailable."""

    degraded: tuple[str, ...] = ()


def degraded(answer: Any) -> bool:
    """Returns whether a part of the response was unavailable."""
    known = codec.decode(answer.content, Partly) if isinstance(answer, Answered) else answer
    return bool(known.degraded)


Ask = Callable[[int], Awaitable[Any]]


async def in_turn(ask: Ask, requests: int) -> Latencies:
    """Sequential requests: the time of an answer without load."""
    latencies = Latencies()
    for number in range(requests):
        await latencies.take(ask(number), time.perf_counter())
    return latencies


async def at_rate(ask: Ask, per_s: int, seconds: float) -> Latencies:
    """So many a second, each when its time has come, whether those before were answered or not: a queue is seen as such."""
    latencies, began = Latencies(), time.perf_counter()
    async with asyncio.TaskGroup() as asking:
        for number in range(round(per_s * seconds)):
            due = began + number / per_s
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            asking.create_task(latencies.take(ask(number), due))
    return latencies


class Ready:
    """An Embedder that knows the vectors already."""

    def __init__(self, embedder: Embedder, vectors: Mapping[str, Vector]) -> None:
        self.model = embedder.model
        self.dimension = embedder.dimension
        self._vectors = vectors

    @classmethod
    async def knowing(cls, embedder: Embedder, questions: Sequence[str]) -> "Ready":
        return cls(embedder, dict(zip(questions, await embedder.embed_questions(questions), strict=True)))

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self._vectors[text] for text in texts])

    async def embed_questions(self, questions: Sequence[str]) -> NDArray[np.float32]:
        return await self.embed(questions)
