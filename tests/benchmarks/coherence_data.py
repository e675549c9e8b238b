"""Real conversations of public data sets as messages, with their later questions."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec import Struct

from schemas.conversations.messages import Message, Role, ToolCall
from tests.benchmarks.windows_turns import INTERLEAVED

EVIDENCE = Path(__file__).with_name("coherence_evidence.json")
EVENING_H = 20  # MemoryBank has days without times
BETWEEN = timedelta(seconds=30)
APART = timedelta(hours=2)  # LangMem has no times: between the conversations of its log
BEGAN = datetime(2025, 2, 1, tzinfo=UTC)

PARTS: tuple[tuple[str, Role, str], ...] = (("query", "user", "u"), ("response", "assistant", "a"))

Question = tuple[frozenset[int], ...]  # sets of positions; the messages of any one of them answer it


class Conversation(Struct, frozen=True):
    """`questions` are those that its messages answer, each with the positions of the messages that do.

    `repairs` are calls that failed: positions of the call, of the result that says so, and of what was done next.
    """

    name: str
    messages: tuple[Message, ...]
    questions: tuple[Question, ...] = ()
    repairs: tuple[frozenset[int], ...] = ()


def memorybank(history: Path) -> Iterator[Conversation]:
    """Fifteen people who talk with a companion on ten days each.

    What answers each question was labelled for this benchmark, by place: `9.1u` is what the user (`a`: the assistant)
    said in the second turn of the tenth day.
    """
    evidence = json.loads(EVIDENCE.read_text())
    for key, person in json.loads(history.read_text()).items():
        name, messages, places = key.strip(), list[Message](), dict[str, int]()
        for day, (date, talk) in enumerate(person["history"].items()):
            moment = datetime.fromisoformat(date).replace(hour=EVENING_H, tzinfo=UTC)
            for turn, each in enumerate(talk):
                for part, role, letter in PARTS:
                    places[f"{day}.{turn}{letter}"] = INTERLEAVED * len(messages)
                    messages.append(said(name, len(messages), role, moment, each[part]))
                    moment += BETWEEN
        yield Conversation(name, tuple(messages), tuple(questions(evidence[name], places)))


def questions(labelled: Sequence[Sequence[str]], places: dict[str, int]) -> Iterator[Question]:
    for alternatives in labelled:
        if alternatives:
            yield tuple(frozenset(places[place] for place in answer.split()) for answer in alternatives)


def langmem(calls: Path) -> Conversation:
    """The log of one agent: recorded requests to a model with tools, those that no later request continues, with answers."""
    log = _Log()
    for call in _longest([json.loads(line) for line in calls.read_text().splitlines()]):
        log.begin()
        for message in [*call["request"]["messages"], call["response"]]:
            log.add(message["role"], message["content"])
    return Conversation("log", tuple(log.messages), repairs=tuple(log.repairs))


def _longest(calls: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    answered = [call for call in calls if call["status"] == 200 and "content" in call["response"]]
    said = [json.dumps(call["request"]["messages"], sort_keys=True)[:-1] for call in answered]
    return [
        call
        for call, own in zip(answered, said, strict=True)
        if not any(other.startswith(own) and other != own for other in said)
    ]


class _Log:
    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.repairs: list[frozenset[int]] = []
        self._failed: list[
            tuple[int, int]
        ] = []  # positions of calls and their results, until something is done about them
        self._moment = BEGAN

    def begin(self) -> None:
        self._moment += APART

    def add(self, role: str, content: Any) -> None:
        """Text, calls and results, which one message holds there, are messages of their own here."""
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        texts = [block["text"] for block in blocks if block["type"] == "text"]
        calls = [
            ToolCall(id=block["id"], name=block["name"], arguments=block["input"])
            for block in blocks
            if block["type"] == "tool_use"
        ]
        for block in blocks:
            if block["type"] == "tool_result":
                self._answer(block)
        if texts or calls:
            self._say("user" if role == "user" else "assistant", "\n".join(texts), tool_calls=tuple(calls))

    def _answer(self, block: dict[str, Any]) -> None:
        called = next(at for at in reversed(range(len(self.messages))) if self.messages[at].role == "assistant")
        if block.get("is_error"):
            self._failed.append((INTERLEAVED * called, INTERLEAVED * len(self.messages)))
        self._say("tool", _text(block.get("content", "")), tool_call_id=block["tool_use_id"])

    def _say(self, role: Role, content: str, **fields: Any) -> None:
        if role == "assistant":
            self.repairs += [frozenset((*failed, INTERLEAVED * len(self.messages))) for failed in self._failed]
            self._failed = []
        self.messages.append(said("log", len(self.messages), role, self._moment, content, **fields))
        self._moment += BETWEEN


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(block.get("text", "") for block in content)


def said(name: str, number: int, role: Role, moment: datetime, content: str, **fields: Any) -> Message:
    return Message(conversation_id=name, message_id=str(number), role=role, timestamp=moment, content=content, **fields)
