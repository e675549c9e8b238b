"""The conversations that a policy matches."""

from fnmatch import fnmatchcase
from typing import Final

from msgspec import Struct

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
        patterns = (
            (self.tenant_id, scope.tenant_id),
            (self.app_id, scope.app_id),
            (self.agent_id, scope.agent_id),
            (self.mode, scope.mode),
        )
        return all(
            pattern is None or (value is not None and fnmatchcase(value, pattern)) for pattern, value in patterns
        )

    @property
    def specificity(self) -> tuple[int, int]:
        """Number of fields with a pattern, and number of those without wildcards."""
        given = [pattern for pattern in (self.tenant_id, self.app_id, self.agent_id, self.mode) if pattern is not None]
        return len(given), sum(WILD.isdisjoint(pattern) for pattern in given)
