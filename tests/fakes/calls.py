"""Model calls with scripted answers, failures and durations."""

import asyncio
from collections import deque
from collections.abc import Sequence

from agents.models.calls.exchange import ChatTurn, ModelReply
from agents.models.calls.rate_limits import Allowance
from agents.models.port import Usage
from agents.models.prompts.questions import Question

USAGE = Usage(input_tokens=900, output_tokens=100)


class FakeCalls:
    """Each call takes `takes_s`. `failures` are raised by the next calls, one each; `allowances` are reported with answers."""

    name = "fake"
    leaves_machine = False
    max_reply_tokens = 4_096

    def __init__(self, takes_s: float = 1.0) -> None:
        self.takes_s = takes_s
        self.failures: deque[BaseException] = deque()
        self.allowances: tuple[Allowance, ...] = ()
        self.wrong: str | None = None
        self.asked_at: list[float] = []
        self.running = self.most = 0

    async def unavailable_reason(self) -> str | None:
        return self.wrong

    def model(self, question: Question) -> str:
        return "fake-1"

    def fixed_texts(self, question: Question) -> tuple[str, ...]:
        return (question.stable, question.policy)

    async def call(self, question: Question, turns: object, max_tokens: int) -> ModelReply:
        self.asked_at.append(asyncio.get_running_loop().time())
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(self.takes_s)
        finally:
            self.running -= 1
        if self.failures:
            raise self.failures.popleft()
        text = '{"memories": []}'
        return ModelReply(text=text, truncated=False, model="fake-1", usage=USAGE, allowances=self.allowances)


class ScriptedCalls(FakeCalls):
    """Each call gives the next text; those that begin with `…` broke off."""

    max_reply_tokens = 8_192

    def __init__(self, *texts: str) -> None:
        super().__init__(takes_s=0.0)
        self.texts = deque(texts)
        self.received: list[tuple[tuple[ChatTurn, ...], int]] = []

    async def call(self, question: Question, turns: Sequence[ChatTurn], max_tokens: int) -> ModelReply:
        self.received.append((tuple(turns), max_tokens))
        text = self.texts.popleft()
        return ModelReply(text=text.removeprefix("…"), truncated=text.startswith("…"), model="m", usage=USAGE)
