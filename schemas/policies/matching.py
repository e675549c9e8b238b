"""The conversations that a policy matches."""

from fnmatch import fnmatchcase
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from schemas.conversations.messages import Scope

WILD: Final = frozenset("*?[")


class Match(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Shell patterns (`*`, `?`, `[...]`) per field; a field without a pattern matches any value, and its absence.

    - `tenant_id`: pattern of the tenants, such as `acme-*`
    - `app_id`: pattern of the apps whose conversations match
    - `agent_id`: pattern of the agents that answer
    - `mode`: pattern of the kinds of conversation, such as `support`
    """

    tenant_id: str | None = None
    app_id: str | None = None
    agent_id: str | None = None
    mode: str | None = None

    def accepts(self, scope: Scope) -> bool:
        values = ((pattern, getattr(scope, field)) for field, pattern in self._patterns.items())
        return all(value is not None and fnmatchcase(value, pattern) for pattern, value in values)

    def may_accept(self, scope: Scope) -> bool:
        """Whether no value of the scope is against a pattern; fields without a value may have any."""
        values = ((pattern, getattr(scope, field)) for field, pattern in self._patterns.items())
        return all(value is None or fnmatchcase(value, pattern) for pattern, value in values)

    def completed(self, scope: Scope) -> Scope:
        """The scope with the value of each pattern without a wildcard, where it has none."""
        exact = {field: pattern for field, pattern in self._patterns.items() if WILD.isdisjoint(pattern)}
        return replace(scope, **{field: value for field, value in exact.items() if getattr(scope, field) is None})

    @property
    def specificity(self) -> tuple[int, int]:
        """Number of fields with a pattern, and number of those without wildcards."""
        patterns = self._patterns.values()
        return len(patterns), sum(WILD.isdisjoint(pattern) for pattern in patterns)

    @property
    def _patterns(self) -> dict[str, str]:
        return {field: pattern for field, pattern in asdict(self).items() if pattern is not None}
