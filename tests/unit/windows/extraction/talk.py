"""Plays a conversation message by message and collects the requests of its window."""

from typing import Any

from schemas.extraction.requests import ExtractionRequest
from schemas.policies.policies import Policy
from schemas.policies.triggers import Triggers
from streams.windows.rows import rows
from streams.windows.window import Window
from tests.fakes.chats import CONVERSATION, always, control, ended, message, requests_among, terms

NOW = 1_800_000_000.0
TOKENS = 10


def policy(**triggers: Any) -> Policy:
    return Policy(
        name="p",
        triggers=Triggers(**({"abandoned_s": 100_000.0} | triggers)),
        late_idle_s=30.0,
        grace_s=1e9,
        reask_after_s=1e9,
    )


class Talk:
    """A conversation, message by message; `requested_positions` are the positions of each request so far."""

    def __init__(self, chosen: Policy) -> None:
        self.policy, self.terms = chosen, terms(chosen)
        self.window = Window.opened(CONVERSATION, 0)
        self.requested_positions: list[list[int]] = []
        self.requests: list[ExtractionRequest] = []
        self.offset = 0
        self.stored: dict[bytes, bytes | None] = {}

    def note(self, requests) -> None:
        self.requests += requests_among(requests)
        self.requested_positions = [[each.position for each in request.messages] for request in self.requests]

    def say(self, role: str, now: float = NOW, **fields: Any) -> None:
        said = message(self.offset, role=role, **fields)
        self.note(self.window.add(said, self.offset, TOKENS, always(self.terms), now))
        self.offset += 1

    def end(self, now: float = NOW) -> None:
        self.note(self.window.end(ended(), 0, 0, 1_000, self.terms, now))

    def ring(self, now: float) -> None:
        self.note(self.window.due(1_000, self.terms, now))

    def flush(self, offset: int = 0, **fields: Any) -> None:
        self.note(self.window.control(control("flush", **fields), offset, self.terms, NOW))

    def answer(self, request: ExtractionRequest, now: float) -> None:
        completed = control("extraction_completed", request_id=request.request_id)
        self.note(self.window.control(completed, request.last, self.terms, now))

    def restart(self) -> None:
        """The window as its rows describe it."""
        self.stored |= rows.save(self.window)
        self.window = rows.load(CONVERSATION, self.stored.get) or Window.opened(CONVERSATION, 0)
