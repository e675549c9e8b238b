"""The terms on which each conversation's window is kept: its policy, and what is known of its model."""

from collections.abc import Mapping

from msgspec import structs

from schemas.conversations.messages import Scope
from schemas.conversations.window_choices import WindowChoice
from schemas.conversations.windows import Calibration
from schemas.policies.policies import Policies, Policy
from streams.windows.terms import Terms
from streams.windows.tokens import calibration
from streams.windows.tokens.accounting import Budget
from streams.windows.tokens.model_limits import ModelLimits
from streams.windows.window import Window

MATCHES_KEPT = 10_000
LEAST_SLICE_TOKENS = 100  # what a policy may say at least

Key = tuple[str | None, ...]


class WindowTerms:
    """Each message asks, so answers are kept; `governed` and `calibrated` bring what changed since.

    No slice has more than `most_slice_tokens`, whatever a policy says, but for a message that has more by itself.
    """

    def __init__(self, policies: Policies, limits: ModelLimits, most_slice_tokens: int | None = None) -> None:
        self.policies = policies
        self._most_slice_tokens = most_slice_tokens
        self._limits = limits
        self._calibrations: Mapping[str, Calibration] = {}
        self._version = 0
        self._policy: dict[Key, Policy] = {}
        self._terms: dict[tuple[str | WindowChoice | None, ...], Terms] = {}

    def governed(self, policies: Policies) -> None:
        """The policies that apply from now on."""
        self.policies = policies
        self._version += 1
        self._policy.clear()
        self._terms.clear()

    def calibrated(self, calibrations: Mapping[str, Calibration]) -> None:
        """What is known of models by now, by name."""
        self._calibrations = calibrations
        self._version += 1
        self._terms.clear()

    def tool_use(self, model: str | None) -> int:
        """Billed tokens that the model's provider adds to a request with tools, at most."""
        return max(self._limits.tool_use(model, required) for required in (False, True))

    def policy(self, scope: Scope) -> Policy:
        key = (scope.tenant_id, scope.app_id, scope.agent_id, scope.mode)
        policy = self._policy.get(key)
        if policy is None:
            if len(self._policy) >= MATCHES_KEPT:
                self._policy.clear()
            policy = self._policy[key] = self._within(self.policies.match(scope))
        return policy

    def _within(self, policy: Policy) -> Policy:
        """The policy with slices that the models which are asked can read whole."""
        most = self._most_slice_tokens
        if most is None or policy.slice_tokens <= most:
            return policy
        return structs.replace(policy, slice_tokens=max(most, LEAST_SLICE_TOKENS))

    def now(self, window: Window) -> Terms:
        """A window's terms; those that it had before, unless something changed."""
        terms = window.terms
        if terms is None or terms.version != self._version:
            terms = window.terms = self.of(window.head.scope, window.head.model, window.adjustments.settings)
        return terms

    def of(self, scope: Scope, model: str | None, chosen: WindowChoice | None = None) -> Terms:
        key = (scope.tenant_id, scope.app_id, scope.agent_id, scope.mode, model, chosen)
        terms = self._terms.get(key)
        if terms is None:
            if len(self._terms) >= MATCHES_KEPT:
                self._terms.clear()
            terms = self._terms[key] = self._made(self.policy(scope), model, chosen)
        return terms

    def _made(self, policy: Policy, model: str | None, chosen: WindowChoice | None) -> Terms:
        if chosen is not None:
            policy = structs.replace(policy, window=chosen.applied(policy.window))
        known = calibration.of(self._calibrations, model)
        return Terms.of(policy, Budget.of(policy.window, self._limits.of(model), known), self._version)
