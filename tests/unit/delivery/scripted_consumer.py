"""Our consumer and its thread on a scripted fetcher, without Faust's services around them.

A call to the thread gets there, and its answer comes back, when the schedule says so.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from types import SimpleNamespace
from typing import Any

from faust.types import TP

from streams.delivery.consumer import FencedConsumer
from streams.delivery.consumer_thread import FencedConsumerThread
from streams.delivery.counters import Counters
from streams.delivery.fence import Fence
from streams.delivery.positions import Positions
from tests.fakes.changelog import Gates
from tests.fakes.fetcher import ScriptedKafka


class ScriptedThread(FencedConsumerThread):
    """Works on the test's loop; the schedule decides when a call gets there and when its answer is back.

    A caller that is cancelled does not end what the thread does for it. `calls` are the names of what was called.
    """

    def __init__(self, consumer: Any, kafka: ScriptedKafka, gates: Gates) -> None:
        self.consumer = consumer
        self.kafka = kafka
        self.gates = gates
        self.calls: list[str] = []
        self.reading = False
        self._left_at: dict[Any, int] = {}
        self._doing: set[asyncio.Task[Any]] = set()

    def _ensure_consumer(self) -> ScriptedKafka:
        return self.kafka

    async def read(self, tps: set[TP], timeout_s: float) -> Any:
        self.reading = True
        try:
            return await super().read(tps, timeout_s)
        finally:
            self.reading = False

    async def call_thread(self, fun: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
        self.calls.append(fun.__name__)
        doing = asyncio.create_task(self._do(fun, *args))
        self._doing.add(doing)
        doing.add_done_callback(self._done)
        return await asyncio.shield(doing)

    async def _do(self, fun: Callable[..., Awaitable[Any]], *args: Any) -> Any:
        await self.gates.reach_point(f"to {fun.__name__}")
        answer = await fun(*args)
        await self.gates.reach_point(f"from {fun.__name__}")
        return answer

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._doing.discard(task)
        if not task.cancelled():
            task.exception()  # nobody may be left to ask for it

    def end(self) -> None:
        for task in list(self._doing):
            task.cancel()


class ScriptedConsumer(FencedConsumer):
    """The real consumer between a scripted thread and `deliver`, which gets the messages. No Faust service is started."""

    should_stop = False

    def __init__(self, app: Any, kafka: ScriptedKafka, gates: Gates, deliver: Callable[[Any], Awaitable[None]]) -> None:
        self.app = app
        self.fence: Fence = app.fence
        self.positions, self.counters = Positions(), app.counters
        self.kafka, self.gates, self.callback = kafka, gates, deliver
        self.active: set[TP] = set()
        self._thread = ScriptedThread(self, kafka, gates)
        self._committed_offset: dict[TP, int | None] = defaultdict(lambda: None)
        self._buffered_partitions = set()
        self.can_resume_flow, self.suspend_flow = asyncio.Event(), asyncio.Event()
        self.flow_active = True
        self.diag = SimpleNamespace(set_flag=lambda _: None, unset_flag=lambda _: None)

    def _get_active_partitions(self) -> set[TP]:
        return self.active

    def assignment(self) -> Any:
        return self.kafka.assignment()

    def resume_partitions(self, tps: Iterable[TP]) -> None:
        self.active |= set(tps)

    async def earliest_offsets(self, *tps: TP) -> dict[TP, int]:
        await self.gates.reach_point("earliest")
        return {tp: self.kafka._fetcher._logs[tp].beginning for tp in tps}

    async def _handle_attached(self, offsets: Any) -> None:
        """Faust sends here what was attached to messages; nothing ever is."""

    async def wait(self, event: asyncio.Event) -> None:
        await event.wait()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def wait_first(self, *coroutines: Any, timeout: Any = None) -> None:
        tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()


def bare_app(*, checkpoints: bool = False) -> SimpleNamespace:
    """The parts of an app that the consumer uses while it drains and ends an epoch; it commits nothing."""

    async def nothing(*_: Any) -> None:
        await asyncio.sleep(0)

    quiet = SimpleNamespace(on_commit_initiated=lambda _: None, on_commit_completed=lambda *_: None)
    return SimpleNamespace(
        fence=Fence(),
        counters=Counters(),
        checkpointer=object() if checkpoints else None,
        conf=SimpleNamespace(id="stage"),
        consumer_generation_id=9,
        should_stop=False,
        sensors=quiet,
        settle=nothing,
        abandon=nothing,
        tables=SimpleNamespace(recovery=SimpleNamespace(interrupt=nothing)),
    )
