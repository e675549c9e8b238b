"""A conversation that a test plays message by message, and the effects of its window."""

from typing import Any

from schemas.conversations.window_settings import WindowSettings
from schemas.extraction.requests import ExtractionRequest
from schemas.ids import summary_id
from schemas.policies.policies import Policy
from streams.windows.effects import ContextPruned, ContextWarning, Effect
from streams.windows.terms import Terms
from streams.windows.tokens.accounting import Budget
from streams.windows.window import Window
from tests.fakes.chats import CONVERSATION, always, control, message, requests_among

NOW = 1_800_000_000.0
SIZE = 1_000  # tokens of the model


class Talk:
    """A conversation under a policy; `effects` has all effects of its window so far."""

    def __init__(self, extract: bool = True, model_tokens: int = SIZE, **settings: Any) -> None:
        self.policy = Policy(name="p", extract=extract, window=WindowSettings(**settings))
        self.terms = Terms.of(self.policy, Budget.of(self.policy.window, model_tokens))
        self.window = Window.opened(CONVERSATION, 0)
        self.effects: list[Effect] = []
        self.offset = self.controls = 0

    def say(self, role: str = "user", tokens: int = 10, content: str = "hello", at: int | None = None, **fields: Any):
        said = message(
            self.offset if at is None else at, content, role=role, **{"message_id": f"m{self.offset}"} | fields
        )
        return self.note(self.window.add(said, self.offset, tokens, always(self.terms), NOW), said=1)

    def exchange(self, times: int = 1, tokens: int = 10) -> None:
        for _ in range(times):
            self.say("user", tokens)
            self.say("assistant", tokens)

    def answer(self, request: ExtractionRequest, summary: str, tokens: int = 5) -> None:
        """Answers a request for a summary, as the extraction stage does."""
        known = summary_id(request.summary) if request.summary else None
        self.control("summarised", tokens, first=request.first, last=request.last, summary=summary, known=known)

    def control(self, kind: str, tokens: int = 0, after_s: float = 0.0, **fields: Any) -> list[Effect]:
        self.controls += 1
        now = NOW + after_s
        return self.note(self.window.control(control(kind, **fields), self.controls, self.terms, now, tokens))

    def note(self, effects: list[Effect], said: int = 0) -> list[Effect]:
        self.offset += said
        self.effects += effects
        return effects

    def pruned(self) -> list[ContextPruned]:
        return [each for each in self.effects if isinstance(each, ContextPruned)]

    def warned(self) -> list[str]:
        return [each.statistics.level for each in self.effects if isinstance(each, ContextWarning)]


def summaries(effects: list[Effect]) -> list[ExtractionRequest]:
    return [request for request in requests_among(effects) if request.purpose == "summarise"]
