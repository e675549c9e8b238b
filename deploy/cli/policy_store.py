"""The topic of policies as the command line sees it: what stands there, and what files come to."""

from collections.abc import Iterable

from agents.policies.changes import PolicyChange, StoredPolicies, latest_policies
from agents.policies.changes import plan_change as change_of
from deploy.cli.follow import partitions
from deploy.policies.files import Written
from deploy.settings import Settings
from deploy.wiring import connections
from schemas.errors import Misconfigured, Rejected
from schemas.kafka import topics
from schemas.policies.policies import Policies


async def stored(settings: Settings) -> StoredPolicies:
    """Reads the topic to its end. Raises Retryable, and Misconfigured when there is none."""
    await partitions(settings, topics.POLICIES)
    async with connections.policy_topic(settings) as topic:
        return latest_policies(await topic.to_end())


def changes(wanted: Iterable[Written], known: StoredPolicies) -> list[PolicyChange]:
    """What putting policies comes to. Raises Misconfigured for one made from another version."""
    return [change(each, known) for each in wanted]


def change(wanted: Written, known: StoredPolicies) -> PolicyChange:
    try:
        return change_of(wanted.policy, wanted.version, known)
    except Rejected as exc:
        raise Misconfigured(
            f"{wanted.origin}: {exc.detail}: begin with `memstream policies show {wanted.policy.name}`, or leave `version` "
            "out to put this one over it"
        ) from exc


def applying(settings: Settings, known: StoredPolicies) -> Policies:
    """The policies that a process with these settings goes by, in their order."""
    return Policies(tuple(known.latest.values())).merged_over(settings.policies())
