"""The windows stage of one worker on a stub app, a fake changelog and a clock that the test sets."""

from agents.windows.agent import WindowAgent
from agents.windows.terms import WindowTerms
from agents.windows.user_choices import UserChoices
from schemas import codec
from schemas.extraction.requests import ExtractionRequest
from schemas.kafka import topics
from schemas.memories.events import ActivityEvent
from schemas.policies.matching import Match
from schemas.policies.policies import Policies, Policy
from schemas.windows.window_controls import WindowControl
from streams.kafka.topics import TopicSettings
from streams.windows.rows import rows
from streams.windows.tokens.model_limits import ModelLimits
from streams.windows.window import Window
from tests.fakes.app import StubApp
from tests.fakes.batches import batch_of
from tests.fakes.changelog import Broker
from tests.fakes.chats import CONVERSATION, message
from tests.fakes.clock import Clock, settled
from tests.fakes.publisher import FakePublisher
from tests.fakes.user_settings import FakeUserSettings

NAMES = TopicSettings(prefix="test.")
MESSAGES, ENDED, CONTROL = (NAMES.physical(t) for t in (topics.MESSAGES, topics.ENDED, topics.WINDOW_CONTROL))
POLICY = Policy(
    name="app", match=Match(app_id="app"), straggler_wait_s=40.0, late_idle_s=5.0, grace_s=500.0, reask_after_s=100.0
)
PARTITION = 2
SMALL_MODELS = {"small": 1_000}  # tokens; a token is a character here


class Stage:
    """The windows stage of one worker; `say`, `end` and `tell` deliver a batch each."""

    def __init__(self, broker: Broker | None = None, clock: Clock | None = None, policy: Policy = POLICY) -> None:
        self.terms = WindowTerms(Policies((policy,)), ModelLimits(default=200_000, context_tokens=SMALL_MODELS))
        self.app = StubApp(broker, interval_s=1_000.0)
        self.clock = clock or Clock()
        self.publisher = FakePublisher()
        self.user_settings = FakeUserSettings()
        self.users = UserChoices(self.user_settings, self.terms, self.clock)
        self.agent = WindowAgent(self.app, NAMES, self.terms, len, self.publisher, self.clock, users=self.users)
        self.offsets = {MESSAGES: 0, ENDED: 0, CONTROL: 0}

    async def begin(self, partitions: frozenset[int] = frozenset({PARTITION})) -> "Stage":
        starts = {(topic, p): self.offsets[topic] for topic in self.offsets for p in partitions}
        await self.app.start_epoch(set(partitions), starts)
        return self

    def batch(self, topic: str, values, partition: int = PARTITION):
        values = [value if isinstance(value, bytes | None) else codec.encode(value) for value in values]
        given = batch_of(self.app.fence, topic, self.offsets[topic], values, partition=partition)
        self.offsets[topic] = given.end
        self.app.consumer.handed(topic, partition, given.end)
        return given

    async def deliver(self, topic: str, *values):
        given = self.batch(topic, values)
        await self.agent.handle(given)
        return given

    async def say(self, *values):
        self.app.consumer.log_ends[MESSAGES, PARTITION] = self.offsets[MESSAGES] + len(values)
        return await self.deliver(MESSAGES, *values)

    async def end(self, *values):
        return await self.deliver(ENDED, *values)

    async def tell(self, *values):
        return await self.deliver(CONTROL, *values)

    async def checkpoint(self) -> None:
        """Completes a checkpoint of the applied records; the epoch continues."""
        self.app.checkpointer._start_due()
        await settled()

    @property
    def requests(self) -> list[ExtractionRequest]:
        effects = [effect for effect in self.app.broker.effects if effect.topic == topics.REQUESTS]
        return [codec.decode(effect.value, ExtractionRequest) for effect in effects]

    @property
    def activity(self) -> list[ActivityEvent]:
        effects = [effect for effect in self.app.broker.effects if effect.topic == topics.ACTIVITY]
        return [codec.decode(effect.value, ActivityEvent) for effect in effects]

    def window(self) -> Window:
        """Loads the window from its rows, committed or not."""
        found = rows.load(CONVERSATION, self.app.checkpointer[PARTITION].read)
        assert found is not None
        return found

    async def due(self) -> list[WindowControl]:
        before = len(self.publisher.records)
        await self.agent.tick()
        return [codec.decode(record.value, WindowControl) for record in self.publisher.records[before:]]


def said(number: int, content: str = "hello", **fields):
    return message(number, content, **{"app_id": "app", "user_id": "user"} | fields)
