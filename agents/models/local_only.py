"""What may leave the machine: the refusal to send a conversation that has to stay."""

from typing import Protocol

from schemas.errors import Misconfigured, Rejected
from schemas.policies.policies import Policies


class RemoteCapable(Protocol):
    """Something that is given conversations."""

    name: str
    leaves_machine: bool


def require_staying(local_only: bool, asked: RemoteCapable) -> None:
    """Raises Rejected `must_stay`, before anything is sent: the slice goes to the dead letters whole, and can be replayed.

    It is no outage that passes, and an empty answer would be a silent loss.
    """
    if local_only and asked.leaves_machine:
        raise Rejected(
            "must_stay",
            f"its policy is local_only, and the provider {asked.name} would send it to another machine: use one on this machine",
        )


def check_policies(policies: Policies, asked: RemoteCapable) -> None:
    """Raises Misconfigured when policies want their conversations to stay and nobody on this machine can be asked."""
    staying = [policy.name for policy in policies.listed if policy.local_only]
    if staying and asked.leaves_machine:
        raise Misconfigured(
            f"the policy {staying[0]!r} is local_only, and the provider {asked.name} sends to another machine: choose "
            "MEMSTREAM_PROVIDER=offline, ollama on this machine, or auto with one of them in MEMSTREAM_PROVIDER_ORDER"
        )
