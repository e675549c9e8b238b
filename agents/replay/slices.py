"""Runs a conversation's messages through a window again, for the slices that it has under a replay's policies.

It is the same window as for live messages, with the messages' timestamps as the clock. The end of a conversation is not
known any more: it ends with its last message, or with a silence after which a window is forgotten.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import groupby

from agents.windows.terms import WindowTerms
from schemas.extraction.requests import ExtractionRequest
from schemas.windows.window_controls import ControlKind, WindowControl
from sinks.archive.messages import ArchivedMessage
from streams.windows.effects import Effect
from streams.windows.tokens.counting import TokenCount, message_tokens
from streams.windows.window import Window


def slices(
    messages: Sequence[ArchivedMessage], terms: WindowTerms, count_tokens: TokenCount
) -> list[ExtractionRequest]:
    """The requests for one conversation, in order; `messages` are in the order of partition and position. Deterministic."""
    made: list[ExtractionRequest] = []
    for partition, run in groupby(messages, key=lambda each: each.partition):
        window = _WindowReplay(partition, terms, count_tokens)
        for each in run:
            window.take(each)
        made += window.rest()
    return made


class _WindowReplay:
    """A window whose requests are answered at once."""

    def __init__(self, partition: int, terms: WindowTerms, count_tokens: TokenCount) -> None:
        self._partition = partition
        self._terms = terms
        self._count_tokens = count_tokens
        self._window: Window | None = None
        self._now_s = 0.0
        self._controls = 0
        self._made: list[ExtractionRequest] = []

    def take(self, archived: ArchivedMessage) -> None:
        message = archived.message
        self._now_s = max(self._now_s, message.timestamp.timestamp())
        self._advance_clock(archived.position)
        window = self._window = self._window or Window.opened(message.conversation_id, self._partition)
        tokens = message_tokens(message, self._count_tokens)
        self._apply_effects(window.add(message, archived.position, tokens, self._terms.now, self._now_s))

    def rest(self) -> list[ExtractionRequest]:
        """All requests, with the last waiting messages."""
        if self._window is not None:
            self._apply_effects(self._control(self._window, "flush"))
        return self._made

    def _advance_clock(self, read_to: int) -> None:
        """Applies each passed deadline at its time."""
        while (window := self._window) is not None:
            terms = self._terms.now(window)
            at = window.deadline(terms.policy).at
            if at is None or at > self._now_s:
                return
            if window.expired(terms.policy, at):
                self._window = None
            else:
                self._apply_effects(window.due(read_to, terms, at))

    def _apply_effects(self, effects: Sequence[Effect]) -> None:
        """Answers each request, which makes room for the next one."""
        assert self._window is not None
        waiting = list(effects)
        while waiting:
            each = waiting.pop(0)
            if isinstance(each, ExtractionRequest) and each.purpose == "extract":
                self._made.append(each)
                waiting += self._control(self._window, "extraction_completed", each.request_id)

    def _control(self, window: Window, kind: ControlKind, request_id: str | None = None) -> list[Effect]:
        head, terms = window.head, self._terms.now(window)
        control = WindowControl(
            conversation_id=head.scope.conversation_id,
            kind=kind,
            at=datetime.fromtimestamp(self._now_s, UTC),
            request_id=request_id,
        )
        self._controls += 1
        return window.control(control, self._controls, terms, self._now_s)
