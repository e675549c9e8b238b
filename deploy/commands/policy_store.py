"""The topic of policies as the command line sees it: what stands there, and what files come to."""

from collections.abc import Iterable

from agents import policy_changes
from agents.policy_changes import Change, Stored
from deploy import connections
from deploy.commands.follow import partitions
from deploy.policy_files import Written
from deploy.settings import Settings
from schemas import topics
from schemas.errors import Misconfigured, Rejected
from schemas.policies import Policies


async def stored(settings: Settings) -> Stored:
    """Reads the topic to its end. Raises Retryable, and Misconfigured when there is none."""
    await partitions(settings, topics.POLICIES)
    async with connections.policy_topic(settings) as topic:
        return policy_changes.standing(await topic.to_end())


def changes(wanted: Iterable[Written], known: Stored) -> list[Change]:
    """What putting policies comes to. Raises Misconfigured for one made from another version."""
    return [change(each, known) for each in wanted]


def change(wanted: Written, known: Stored) -> Change:
    try:
        return policy_changes.change(wanted.policy, wanted.version, known)
    except Rejected as exc:
        raise Misconfigured(
            f"{wanted.origin}: {exc.detail}: begin with `memstream policies show {wanted.policy.name}`, or leave `version` "
            "out to put this one over it"
        ) from exc


def applying(settings: Settings, known: Stored) -> Policies:
    """The policies that a process with these settings goes by, in their order."""
    return Policies(tuple(known.latest.values())).over(settings.policies())
