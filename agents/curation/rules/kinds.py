"""Checks the kinds that commands name or create."""

from schemas.memories.commands import Command
from schemas.policies.policies import Policy


def kinds_refused(command: Command, policy: Policy) -> str | None:
    """Why a command with kinds is rejected; None if the policy has them, or allows new ones."""
    if policy.unknown_kinds == "create":
        return None
    unknown = [kind.name for kind in command.new_kinds or () if kind.name not in policy.kinds]
    if not unknown:
        return None
    return f"the policy {policy.name!r} has no kind {unknown[0]!r} and lets none be made (`unknown_kinds`)"
