"""The caller of a request: an API key and its rights."""

from msgspec import Struct

from agents.api.http.problems import Problem
from schemas.access.keys import EVERYWHERE, Grant, Right
from schemas.policies.shadows import is_reserved


class Caller(Struct, frozen=True):
    """An authenticated API key: its id, name and grants."""

    key_id: str
    name: str
    grants: tuple[Grant, ...]

    @property
    def actor(self) -> str:
        """The caller's name as stored in memory versions and in the audit log."""
        return self.name if self.key_id == self.name else f"{self.name} ({self.key_id})"

    def may(self, right: Right, namespace: str) -> bool:
        return not is_reserved(namespace) and any(grant.allows(right, namespace) for grant in self.grants)

    def require(self, right: Right, namespace: str) -> None:
        """Raises Problem 403 if the right is missing. Call it before any lookup, so that the response does not reveal what
        exists."""
        if not self.may(right, namespace):
            raise Problem(
                403, "forbidden", f"the key {self.name!r} lacks the right {right!r} in namespace {namespace!r}"
            )

    def may_everywhere(self, right: Right) -> bool:
        """Whether the caller has the right in all namespaces. Only a grant with the pattern `*` gives it."""
        return any(grant.namespaces == EVERYWHERE and grant.allows(right, "") for grant in self.grants)

    def require_everywhere(self, right: Right) -> None:
        """Raises Problem 403 unless the caller has the right in all namespaces."""
        if not self.may_everywhere(right):
            raise Problem(403, "forbidden", f"the key {self.name!r} lacks the right {right!r} in all namespaces")


LOCAL = Caller("local", "local", (Grant("admin", EVERYWHERE),))
