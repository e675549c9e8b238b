"""The terms that apply to a window: its policy, and the token budget of the conversation's model."""

from msgspec import Struct

from schemas.policies.policies import Policy
from streams.windows.tokens.accounting import Budget


class Terms(Struct, frozen=True):
    """A policy and a budget, with the values that each message is compared with computed in advance.

    `extracts_on_arrival`: a message may trigger extraction when it arrives. Up to `surely_ok_tokens` counted tokens and
    `max_messages` messages a context needs no pruning. `version` changes with calibrations and policies.
    """

    policy: Policy
    budget: Budget
    extracts_on_arrival: bool
    surely_ok_tokens: int
    max_messages: int
    version: int

    @classmethod
    def of(cls, policy: Policy, budget: Budget, version: int = 0) -> "Terms":
        extracts_on_arrival = (
            not policy.extract or policy.triggers.on_exchange or policy.triggers.after_tokens is not None
        )
        return cls(policy, budget, extracts_on_arrival, budget.surely_ok_tokens, policy.window.max_messages, version)

    def surely_ok(self, messages: int, tokens: int) -> bool:
        """Whether a context of this size surely needs neither pruning nor a warning; `tokens` are counted."""
        return tokens <= self.surely_ok_tokens and messages <= self.max_messages
