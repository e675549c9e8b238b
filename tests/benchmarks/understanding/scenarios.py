"""Reads scenarios from `cases/<half>/<kind>.jsonl`: short conversations and the facts that memories must contain
afterwards."""

import json
import re
from collections.abc import Collection, Iterator
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from schemas.conversations.messages import Message, ToolCall
from tests.benchmarks.understanding.statements import Statement

DIRECTORY: Final = Path(__file__).with_name("cases")
Half = Literal["development", "held_out"]
HALVES: Final[tuple[Half, ...]] = ("development", "held_out")
ONE: Final = "u"  # who speaks where only one person does
STEP: Final = timedelta(minutes=1)  # between two messages
LINE: Final = re.compile(r"([\w.-]+)(?: ([\w-]+))?: (.+)", re.DOTALL)  # "ada: ...", "ai: ...", "tool orders: ..."


class Gold(Struct, frozen=True, forbid_unknown_fields=True, rename={"from_": "from"}):
    """What must be known. `still`: nothing that came later ends it. `always`: it is in the prompt for any question. `detail`: it
    was added to something known before. `from`, `until`: a day, month or year in which it begins or ends to hold."""

    say: str
    still: bool = False
    always: bool = False
    detail: bool = False
    from_: str | None = None
    until: str | None = None


class Proposed(Struct, frozen=True, forbid_unknown_fields=True, rename={"from_": "from"}):
    """A candidate as a good model proposes it, from message `of`; `contradicts`, `refines`, `repeats` name earlier ones."""

    of: int
    text: str
    kind: str = "fact"
    contradicts: tuple[int, ...] = ()
    refines: int | None = None
    repeats: int | None = None
    from_: date | None = None
    until: date | None = None


class Scenario(Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """tests/benchmarks/README.md says what each field means."""

    id: str
    talk: tuple[str, ...]
    knows: tuple[str | Gold, ...] = ()
    stale: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    once: tuple[str, ...] = ()
    may: tuple[str, ...] = ()
    oracle: tuple[Proposed, ...] = ()
    open: bool = False
    lang: str = "en"
    at: str = "2026-03-02T18:00"
    ask: str | None = None
    policy: str = "default"
    names: dict[str, str] = field(default_factory=dict)
    kind: str = ""
    half: Half = "development"

    @cached_property
    def sessions(self) -> tuple[tuple[Message, ...], ...]:
        """The messages, from one break to the next."""
        return tuple(tuple(each) for each in sessions(self))

    @property
    def over(self) -> datetime:
        """An hour after the last word."""
        return self.sessions[-1][-1].timestamp + timedelta(hours=1)

    @cached_property
    def people(self) -> tuple[str, ...]:
        """Returns the speakers in order of their first messages."""
        said = (message for session in self.sessions for message in session)
        return tuple(dict.fromkeys(each.user_id for each in said if each.user_id is not None))

    @cached_property
    def gold(self) -> tuple[tuple[Gold, Statement], ...]:
        each = (Gold(said) if isinstance(said, str) else said for said in self.knows)
        return tuple((gold, self.statement(gold.say)) for gold in each)

    def statements(self, *fields: str) -> tuple[Statement, ...]:
        return tuple(self.statement(said) for name in fields for said in getattr(self, name))

    def statement(self, written: str) -> Statement:
        return Statement.read(written, ONE if self.people == (ONE,) else "")

    def names_of(self, who: str) -> str:
        """Returns the names of a person, with `|` between the words."""
        return "|".join({who, self.names.get(who, who)} - {ONE} - {""})


def sessions(scenario: Scenario) -> Iterator[list[Message]]:
    messages, at, number = list[Message](), moment(scenario.at), 0
    for line in scenario.talk:
        if line.startswith("@"):
            yield messages
            messages, at = [], moment(line[1:])
            continue
        said = message(scenario, line, number, at)
        messages += [called(said), said] if said.role == "tool" else [said]
        at, number = at + STEP, number + 1
    yield messages


def message(scenario: Scenario, line: str, number: int, at: datetime) -> Message:
    """The number of a message counts through all sessions."""
    match = LINE.fullmatch(line)
    if match is None:
        raise ValueError(f"{scenario.id}: {line!r} does not say who speaks")
    speaker, tool, content = match.groups()
    role: Any = {"ai": "assistant", "tool": "tool"}.get(speaker, "user")
    session = sum(each.startswith("@") for each in scenario.talk[: scenario.talk.index(line)])
    return Message(
        conversation_id=f"{scenario.id}-{session}",
        message_id=f"m{number}",
        role=role,
        timestamp=at,
        content=content,
        app_id=scenario.id,
        user_id=speaker if role == "user" else None,
        name=scenario.names.get(speaker) if role == "user" else tool,
        tool_call_id=f"call-{number}" if role == "tool" else None,
    )


def called(answer: Message) -> Message:
    """The assistant's call that a tool answers."""
    call = ToolCall(id=answer.tool_call_id or "", name=answer.name or "tool")
    return replace(
        answer,
        message_id=f"{answer.message_id}-call",
        role="assistant",
        content="",
        name=None,
        tool_calls=(call,),
        tool_call_id=None,
    )


def moment(written: str) -> datetime:
    return datetime.fromisoformat(written).replace(tzinfo=UTC)


def scenarios(kinds: Collection[str] = (), halves: Collection[Half] = HALVES) -> tuple[Scenario, ...]:
    """Returns the scenarios of some halves, of all kinds unless some are named."""
    return tuple(
        msgspec.convert(json.loads(line) | {"kind": path.stem, "half": half}, Scenario)
        for half in halves
        for path in sorted((DIRECTORY / half).glob("*.jsonl"))
        if not kinds or path.stem in kinds
        for line in path.read_text(encoding="utf-8").splitlines()
    )
