"""Calls with a known first reply, such as one from a batch: only repairs call the model."""

from collections.abc import Sequence
from typing import Any

from agents.models.calls.exchange import Calls, ChatTurn, ModelReply
from agents.models.prompts.questions import Question
from schemas.errors import Rejected


class FirstReply:
    """For one question: the first call returns or raises `reply`; further ones use `calls`."""

    def __init__(self, reply: ModelReply | Rejected, calls: Calls) -> None:
        self.name = calls.name
        self.leaves_machine = calls.leaves_machine
        self.larger_max_tokens = calls.larger_max_tokens
        self._reply: ModelReply | Rejected | None = reply
        self._calls = calls

    async def unavailable_reason(self) -> str | None:
        return await self._calls.unavailable_reason()

    def model(self, question: Question[Any]) -> str:
        return self._calls.model(question)

    async def call(self, question: Question[Any], turns: Sequence[ChatTurn], max_tokens: int) -> ModelReply:
        reply, self._reply = self._reply, None
        if isinstance(reply, Rejected):
            raise reply
        return reply if reply is not None else await self._calls.call(question, turns, max_tokens)

    def fixed(self, question: Question[Any]) -> tuple[str, ...]:
        return self._calls.fixed(question)
