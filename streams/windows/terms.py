"""On which terms a window is kept: its policy, and the budget of its conversation's model."""

from msgspec import Struct

from schemas.policies.policies import Policy
from streams.windows.tokens.accounting import Budget


class Terms(Struct, frozen=True):
    """What every message is held against is at hand: whether one may ask for extraction by coming in (`asks`), and up to
    where nothing calls for pruning. `version` counts what was learned of models, and changes of policies."""

    policy: Policy
    budget: Budget
    asks: bool
    calm_tokens: int
    max_messages: int
    version: int

    @classmethod
    def of(cls, policy: Policy, budget: Budget, version: int = 0) -> "Terms":
        asks = not policy.extract or policy.triggers.on_exchange or policy.triggers.after_tokens is not None
        return cls(policy, budget, asks, budget.calm_tokens, policy.window.max_messages, version)

    def calm(self, messages: int, tokens: int) -> bool:
        """Whether nothing about a context of so many messages and counted tokens calls for pruning or a warning."""
        return tokens <= self.calm_tokens and messages <= self.max_messages
