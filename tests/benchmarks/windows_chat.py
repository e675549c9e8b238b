"""One long conversation of a user with an assistant that uses tools: tasks, errors, corrections, over several days."""

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import count, islice
from typing import Any

from schemas.conversations.messages import Message, Role, ToolCall
from tests.benchmarks.chats import BEGAN, text

TASK_EXCHANGES = (3, 14)  # questions with their answers in a task
CALLS = 0.35  # share of questions that the assistant uses a tool for
FAILS = 0.15  # of those calls: an error, and another try
SAYS = 0.15  # share of questions that begin with one of SAID
PAUSES = 0.3  # share of tasks that begin hours after the last one
BETWEEN_S, PAUSE_S = (5.0, 120.0), (7_200.0, 72_000.0)

BEGINS = ("Now let's work on", "Next task:", "Let's move on to", "I have another question about")
SAID = (
    "Please always use metric units.",
    "No, that's wrong, I meant the other one.",
    "Never write to the production database.",
    "It fails with an exception.",
    "As you said before,",
    "Thanks!",
)
DONE = "Task complete."
FAILURE = "Error: connection refused (exit code 1)"


def conversation(rng: random.Random, conversation_id: str) -> Iterator[Message]:
    """Messages without end."""
    chat = _Chat(rng, conversation_id)
    yield chat.said("system", text(rng))
    while True:
        yield from _task(chat, rng)


def long(rng: random.Random, length: int, conversation_id: str = "conv-long") -> list[Message]:
    return list(islice(conversation(rng, conversation_id), length))


class _Chat:
    def __init__(self, rng: random.Random, conversation_id: str) -> None:
        self._rng, self._conversation_id = rng, conversation_id
        self._moment: datetime = BEGAN
        self._calls = count()

    def said(self, role: Role, content: str, **fields: Any) -> Message:
        self.wait(*BETWEEN_S)
        return Message(
            conversation_id=self._conversation_id,
            message_id=f"{self._rng.getrandbits(128):032x}",
            role=role,
            timestamp=self._moment,
            content=content,
            app_id="benchmark",
            user_id="user-0001",
            **fields,
        )

    def wait(self, min_s: float, max_s: float) -> None:
        self._moment += timedelta(seconds=self._rng.uniform(min_s, max_s))

    def call(self) -> ToolCall:
        return ToolCall(id=f"call-{next(self._calls)}", name="search", arguments={"query": text(self._rng)[:80]})


def _task(chat: _Chat, rng: random.Random) -> Iterator[Message]:
    if rng.random() < PAUSES:
        chat.wait(*PAUSE_S)
    yield from _exchange(chat, rng, f"{rng.choice(BEGINS)} {text(rng)}")
    for _ in range(rng.randint(*TASK_EXCHANGES)):
        yield from _exchange(chat, rng, f"{rng.choice(SAID)} {text(rng)}" if rng.random() < SAYS else text(rng))
    yield chat.said("assistant", DONE)


def _exchange(chat: _Chat, rng: random.Random, question: str) -> Iterator[Message]:
    yield chat.said("user", question)
    if rng.random() < CALLS:
        if rng.random() < FAILS:
            yield from _called(chat, rng, FAILURE)
        yield from _called(chat, rng, text(rng))
    yield chat.said("assistant", text(rng))


def _called(chat: _Chat, rng: random.Random, result: str) -> Iterator[Message]:
    call = chat.call()
    yield chat.said("assistant", text(rng)[:60], tool_calls=(call,))
    yield chat.said("tool", result, tool_call_id=call.id)
