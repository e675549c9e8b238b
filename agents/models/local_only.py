"""Enforces `local_only`: refuses to send a conversation to another machine."""

from typing import Protocol

from schemas.errors import Misconfigured, Rejected
from schemas.policies.policies import Policies


class RemoteCapable(Protocol):
    """A receiver of conversations that may be on another machine."""

    name: str
    leaves_machine: bool


def require_local(local_only: bool, target: RemoteCapable) -> None:
    """Raises Rejected `must_stay` if a policy is `local_only` and the target is on another machine. The slice becomes a dead
    letter, which can be replayed: a retry would not help, and an empty answer would lose the slice silently."""
    if local_only and target.leaves_machine:
        raise Rejected(
            "must_stay",
            f"its policy is local_only, and the provider {target.name} would send it to another machine: choose a local provider",
        )


def check_policies(policies: Policies, target: RemoteCapable) -> None:
    """Raises Misconfigured if policies are local_only and no provider runs on this machine."""
    if target.leaves_machine:
        refuse_local_only(
            policies,
            f"the provider {target.name}",
            "choose MEMSTREAM_PROVIDER=offline, ollama on this machine, or auto with one of them in MEMSTREAM_PROVIDER_ORDER",
        )


def refuse_local_only(policies: Policies, what: str, remedy: str) -> None:
    """Raises Misconfigured if any policy is local_only. For adapters that send texts of all policies to another machine."""
    local_policy = next((policy.name for policy in policies.listed if policy.local_only), None)
    if local_policy is not None:
        raise Misconfigured(
            f"the policy {local_policy!r} is local_only, and {what} sends texts to another machine: {remedy}"
        )
