"""The state of the pipeline, set by the test."""

from schemas.errors import Retryable
from sinks.metrics.pipeline_state import ParkedRequests, ProviderState, UnderWay
from streams.kafka.lag import StageLag


class FakePipeline:
    """The brokers and PostgreSQL; if one is down, calls raise Retryable. `calls` counts calls to the brokers."""

    def __init__(self) -> None:
        self.stages: tuple[StageLag, ...] = ()
        self.states: tuple[ProviderState, ...] = ()
        self.waiting: tuple[ParkedRequests, ...] = ()
        self.now_under_way = UnderWay(calls=0, outbox=0, outbox_since=None)
        self.brokers_down = self.postgres_down = False
        self.calls = 0

    async def read(self) -> tuple[StageLag, ...]:
        self.calls += 1
        if self.brokers_down:
            raise Retryable("cannot ask the brokers for consumer groups: they are away")
        return self.stages

    async def providers(self) -> tuple[ProviderState, ...]:
        self._answer()
        return self.states

    async def parked(self) -> tuple[ParkedRequests, ...]:
        self._answer()
        return self.waiting

    async def under_way(self) -> UnderWay:
        self._answer()
        return self.now_under_way

    def _answer(self) -> None:
        if self.postgres_down:
            raise Retryable("PostgreSQL failed while reading the pipeline state: it is down")
