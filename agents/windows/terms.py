"""The terms of each conversation's window: its policy, and the budget of its model."""

from collections.abc import Mapping

from msgspec import structs

from schemas.conversations.messages import Scope
from schemas.conversations.window_choices import WindowChoices
from schemas.conversations.window_settings import Adjustable
from schemas.conversations.windows import Calibration
from schemas.policies.policies import DEFAULT_POLICY, Policies, Policy
from streams.windows.terms import Terms
from streams.windows.tokens import calibration
from streams.windows.tokens.accounting import Budget
from streams.windows.tokens.model_limits import ModelLimits
from streams.windows.window import Window

MAX_CACHED = 10_000
NONE_CHOSEN = WindowChoices()
LEAST_SLICE_TOKENS = 100  # lower bound of the policies' slice_tokens

Key = tuple[str | None, ...]


class WindowTerms:
    """Caches terms, as each message needs them; `governed` and `calibrated` bring changes. `adjustable`: some policy lets
    users choose settings.

    A slice has at most `max_slice_tokens` under any policy, except for a single larger message.
    """

    def __init__(self, policies: Policies, limits: ModelLimits, max_slice_tokens: int | None = None) -> None:
        self.policies = policies
        self.adjustable = allow_choices(policies)
        self._max_slice_tokens = max_slice_tokens
        self._limits = limits
        self._calibrations: Mapping[str, Calibration] = {}
        self._version = 0
        self._policy: dict[Key, Policy] = {}
        self._terms: dict[tuple[str | WindowChoices | None, ...], Terms] = {}

    def governed(self, policies: Policies) -> None:
        """Sets the policies that apply from now on."""
        self.policies = policies
        self.adjustable = allow_choices(policies)
        self._version += 1
        self._policy.clear()
        self._terms.clear()

    def calibrated(self, calibrations: Mapping[str, Calibration]) -> None:
        """Sets the calibrations, by model name."""
        self._calibrations = calibrations
        self._version += 1
        self._terms.clear()

    def tool_use(self, model: str | None) -> int:
        """The most billed tokens that the model's provider adds to a request with tools."""
        return max(self._limits.tool_use(model, required) for required in (False, True))

    def policy(self, scope: Scope) -> Policy:
        key = (scope.tenant_id, scope.app_id, scope.agent_id, scope.mode)
        policy = self._policy.get(key)
        if policy is None:
            if len(self._policy) >= MAX_CACHED:
                self._policy.clear()
            policy = self._policy[key] = self._within(self.policies.match(scope))
        return policy

    def _within(self, policy: Policy) -> Policy:
        """The policy with slices that the configured models can read whole."""
        most = self._max_slice_tokens
        if most is None or policy.slice_tokens <= most:
            return policy
        return structs.replace(policy, slice_tokens=max(most, LEAST_SLICE_TOKENS))

    def now(self, window: Window) -> Terms:
        """The window's terms; the earlier object if nothing changed."""
        terms = window.terms
        if terms is None or terms.version != self._version:
            terms = window.terms = self.of(window.head.scope, window.head.model, window.adjustments.choices)
        return terms

    def of(self, scope: Scope, model: str | None, chosen: WindowChoices = NONE_CHOSEN) -> Terms:
        key = (scope.tenant_id, scope.app_id, scope.agent_id, scope.mode, model, chosen)
        terms = self._terms.get(key)
        if terms is None:
            if len(self._terms) >= MAX_CACHED:
                self._terms.clear()
            terms = self._terms[key] = self._made(self.policy(scope), model, chosen)
        return terms

    def _made(self, policy: Policy, model: str | None, chosen: WindowChoices) -> Terms:
        if chosen != NONE_CHOSEN:
            policy = structs.replace(policy, window=chosen.applied(policy.window))
        known = calibration.of(self._calibrations, model)
        return Terms.of(policy, Budget.of(policy.window, self._limits.of(model), known), self._version)


def allow_choices(policies: Policies) -> bool:
    return any(each.window.adjustable != Adjustable() for each in (*policies.listed, DEFAULT_POLICY))
