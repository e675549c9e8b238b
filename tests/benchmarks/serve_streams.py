"""Event streams for bench-serve: many at once, and the time from a request until the event reaches a follower."""

import asyncio
import statistics
import time
from typing import Any, Final

import aiohttp
import psutil

from tests.benchmarks.curate_store import namespace
from tests.benchmarks.serve_load import Latencies, at_rate, client
from tests.benchmarks.serve_store import NAMESPACES, Served
from tests.deployment import eventually

STREAMS: Final = 1_000  # as many as one process takes
PER_S: Final = 10
SECONDS: Final = 10.0
OPEN_WITHIN_S: Final = 60.0
IDLE_S: Final = 5.0
LATE_S: Final = 10.0


class Followers:
    """One stream a namespace; `opened` and `received_at` tell when the place came that it begins at, and the first event."""

    def __init__(self) -> None:
        self.opened: dict[int, float] = {}
        self.received_at: dict[int, float] = {}

    async def all_opened(self) -> bool:
        return len(self.opened) == STREAMS

    async def follow(self, session: aiohttp.ClientSession, number: int, token: str) -> None:
        headers, parameters = {"Authorization": f"Bearer {token}"}, {"namespace": namespace(number % NAMESPACES)}
        async with session.get("/v1/events", params=parameters, headers=headers, raise_for_status=True) as answer:
            async for line in answer.content:
                if line.startswith(b"id:"):
                    self.opened.setdefault(number, time.perf_counter())
                if line.startswith(b"data:"):
                    self.received_at.setdefault(number, time.perf_counter())


async def streams(served: Served) -> dict[str, Any]:
    """Opens them, leaves them alone for a while, then has memories made in some of their namespaces."""
    followers, process = Followers(), psutil.Process(served.pid)
    size, began = process.memory_info().rss, time.perf_counter()
    connections, timeout = aiohttp.TCPConnector(limit=0), aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(served.address, connector=connections, timeout=timeout) as session:
        following = [
            asyncio.create_task(followers.follow(session, number, served.tokens[number % len(served.tokens)]))
            for number in range(STREAMS)
        ]
        try:
            await eventually(followers.all_opened, "all streams to open", OPEN_WITHIN_S)
            opened_s = time.perf_counter() - began
            grown = process.memory_info().rss - size
            idle = await idling(served)
            made, after_s = await created_at_rate(served, followers)
        finally:
            for each in following:
                each.cancel()
            await asyncio.gather(*following, return_exceptions=True)
    return {
        "streams": len(followers.opened),
        "opened_s": round(opened_s, 2),
        "kb_each": round(grown / STREAMS / 1024, 1),
        "api_cpu_share_idle": idle,
        "create": made.as_json(),
        "events": len(after_s),
        "event_p50_ms": round(statistics.median(after_s) * 1e3, 1),
        "event_p95_ms": round(statistics.quantiles(after_s, n=20)[-1] * 1e3, 1),
    }


async def idling(served: Served) -> float:
    served.cpu.begin()
    await asyncio.sleep(IDLE_S)
    return round(served.cpu.seconds()["api"] / IDLE_S, 3)


async def created_at_rate(served: Served, followers: Followers) -> tuple[Latencies, list[float]]:
    """Creates a memory in each of the first namespaces at this rate; returns the seconds from each request to its event."""
    sent: dict[int, float] = {}
    async with client(served.address, served.tokens[0]) as asking:

        def ask(number: int) -> Any:
            sent[number] = time.perf_counter()
            text = f"User learned the name of star {number} on the balcony."
            return asking.post("/v1/memories", {"namespace": namespace(number), "text": text})

        made = await at_rate(ask, PER_S, SECONDS)

    async def all_heard() -> bool:
        return sent.keys() <= followers.received_at.keys()

    await eventually(all_heard, "the events of all memories", LATE_S)
    return made, [followers.received_at[number] - at for number, at in sent.items()]
