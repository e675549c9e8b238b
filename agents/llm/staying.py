"""What may leave the machine: whether a server is on it, and the refusal to send a conversation that has to stay."""

from ipaddress import ip_address
from typing import Protocol
from urllib.parse import urlsplit

from schemas.errors import Misconfigured, Rejected
from schemas.policies import Policies


class Leaving(Protocol):
    """Something that is given conversations."""

    name: str
    leaves_machine: bool


def is_loopback(url: str) -> bool:
    """Whether the address is this machine's own; one that cannot be read is not.

    Names other than localhost are not looked up: what they mean may change between the question and the call.
    """
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    except ValueError:
        return False


def require_staying(local_only: bool, asked: Leaving) -> None:
    """Raises Rejected `must_stay`, before anything is sent: the slice goes to the dead letters whole, and can be replayed.

    It is no outage that passes, and an empty answer would be a silent loss.
    """
    if local_only and asked.leaves_machine:
        raise Rejected(
            "must_stay",
            f"its policy is local_only, and the provider {asked.name} would send it to another machine: use one on this machine",
        )


def check_policies(policies: Policies, asked: Leaving) -> None:
    """Raises Misconfigured when policies want their conversations to stay and nobody on this machine can be asked."""
    staying = [policy.name for policy in policies.listed if policy.local_only]
    if staying and asked.leaves_machine:
        raise Misconfigured(
            f"the policy {staying[0]!r} is local_only, and the provider {asked.name} sends to another machine: choose "
            "MEMSTREAM_PROVIDER=offline, ollama on this machine, or auto with one of them in MEMSTREAM_PROVIDER_ORDER"
        )
