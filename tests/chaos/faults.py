"""Faults of a Messages server for the calls of a slice, the expected outcome of each, and conversations to apply them
to."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from schemas.kafka import topics
from tests.deployment import Event

BEGAN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC).isoformat()
APP = "faults"
# Retries of a call by the SDK. After them the stage waits and starts over.
SDK_RETRIES = 2


class Fault(NamedTuple):
    """`steps` are the responses to the first calls for each slice. `reason` is set if the slice then becomes a dead letter."""

    name: str
    steps: tuple[str, ...]
    reason: str | None = None

    @property
    def calls(self) -> int:
        """The number of calls for a slice: one per step, and one more if the slice is answered."""
        return len(self.steps) + (self.reason is None)


MATRIX = (
    Fault("429 with retry-after", ("rate_limited",)),
    Fault("400", ("bad_request",), "refused_request"),
    Fault("500", ("server_error",)),
    Fault("529 beyond the SDK's retries", ("overloaded",) * (SDK_RETRIES + 1)),
    Fault("413", ("too_large",), "too_large"),
    Fault("slow", ("slow",)),
    Fault("truncated", ("truncated",)),
    Fault("a reply that is no JSON", ("text:I could not find anything.",)),
    Fault("refusal", ("refusal",), "refused"),
    Fault("reset in the middle of an answer", ("reset",)),
    Fault("a reply without content", ("empty",)),
)
# Faults similar to these.
VARIANTS = (
    Fault("429 beyond the SDK's retries", ("rate_limited",) * (SDK_RETRIES + 1)),
    Fault("an answer that is half a JSON", ("broken",)),
    Fault("a page in place of an answer", ("page",)),
    Fault("several, one after the other", ("overloaded", "reset", "page", "rate_limited", "truncated")),
    Fault("a context that is too small", ("context_exceeded",), "too_large"),
    Fault("truncated twice", ("truncated", "truncated"), "truncated"),
    Fault("no JSON twice", ("text:Sorry.", "text:Sorry again."), "unreadable"),
)
ANSWERED = Fault("none", ())
# Faults with billed calls. The reply in words is almost as long as a first reply may be.
BILLED = (
    ANSWERED,
    Fault("truncated", ("truncated",)),
    Fault("a long reply that is no JSON", (f"text:{'I could not find anything. ' * 250}",)),
    Fault("truncated twice", ("truncated", "truncated"), "truncated"),
)


class Talk(NamedTuple):
    """A conversation of one message by its own user, whose slice gets the fault."""

    number: int
    fault: Fault

    @property
    def conversation_id(self) -> str:
        return f"{APP}-{self.number:05d}"

    @property
    def marker(self) -> str:
        """A word that only its memory contains."""
        return f"Town{self.number:05d}"

    def events(self) -> Iterator[Event]:
        said = {"message_id": f"{self.conversation_id}-1", "role": "user", "content": f"I live in {self.marker}."}
        whose = {"app_id": APP, "user_id": f"user-{self.number:05d}"}
        about = {"conversation_id": self.conversation_id, "timestamp": BEGAN}
        yield Event(topics.MESSAGES, self.conversation_id, about | said | whose)
        yield Event(topics.ENDED, self.conversation_id, about | {"message_count": 1})


def talks(faults: Iterable[Fault], each: int, first: int = 0) -> list[Talk]:
    """`each` conversations per fault, in alternating order, numbered from `first`."""
    by_turns = [fault for _ in range(each) for fault in faults]
    return [Talk(number, fault) for number, fault in enumerate(by_turns, first)]


def marker_in(body: dict[str, Any]) -> str:
    """Returns the marker of the slice in a request."""
    transcript = json.dumps(body["messages"][0]).rpartition("<transcript>")[2]
    (marker,) = set(re.findall(r"Town\d+", transcript))
    return str(marker)


class Script:
    """Applies the next step of the slice's fault to each call, then answers."""

    def __init__(self, conversations: Iterable[Talk]) -> None:
        self.calls: Counter[str] = Counter()
        self._faults = {talk.marker: talk.fault for talk in conversations}

    def __call__(self, body: dict[str, Any]) -> str:
        marker = marker_in(body)
        steps = self._faults[marker].steps
        made = self.calls[marker]
        self.calls[marker] += 1
        return steps[made] if made < len(steps) else "rules"
