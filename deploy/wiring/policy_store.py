"""Reads the topic of policies to its end, and plans changes of it."""

from collections.abc import Iterable

from agents.policies.changes import PolicyChange, StoredPolicies, latest_policies
from agents.policies.changes import plan_change as change_of
from deploy.policies.files import PolicyText
from deploy.settings import Settings
from deploy.wiring import connections
from deploy.wiring.follow import partitions
from schemas.errors import Misconfigured, Rejected
from schemas.kafka import topics
from schemas.policies.policies import Policies


async def stored_policies(settings: Settings) -> StoredPolicies:
    """Reads the topic to its end. Raises Retryable, and Misconfigured if the topic does not exist."""
    await partitions(settings, topics.POLICIES)
    async with connections.policy_topic(settings) as topic:
        return latest_policies(await topic.to_end())


def plan_changes(wanted: Iterable[PolicyText], stored: StoredPolicies) -> list[PolicyChange]:
    """Returns the changes that putting these policies makes. Raises Misconfigured for a policy that is based on an outdated
    version."""
    return [plan_policy(each, stored) for each in wanted]


def plan_policy(wanted: PolicyText, stored: StoredPolicies) -> PolicyChange:
    try:
        return change_of(wanted.policy, wanted.version, stored)
    except Rejected as exc:
        raise Misconfigured(
            f"{wanted.origin}: {exc.detail}: start from `memstream policies show {wanted.policy.name}`, or omit `version` "
            "to overwrite it"
        ) from exc


def policies_in_effect(settings: Settings, stored: StoredPolicies) -> Policies:
    """Returns the policies in effect with these settings, in the order of matching."""
    return Policies(tuple(stored.latest.values())).merged_over(settings.policies())


def unknown_policy(name: str, policies: Policies) -> Misconfigured:
    """The error for a policy that is not in effect. It names those that are."""
    names = ", ".join(each.name for each in policies.listed) or "none"
    return Misconfigured(f"there is no policy {name!r}; the policies are {names}, and the built-in default")
