"""The topic of policies as the command line sees it: what stands there, and what to publish to change it."""

from collections.abc import Iterable, Sequence

from msgspec import Struct, structs

from agents.policies import decoded
from deploy import connections
from deploy.commands.follow import partitions
from deploy.policy_files import Written
from deploy.settings import Settings
from schemas import codec, topics
from schemas.errors import Misconfigured, Rejected
from schemas.policies import Policies, Policy
from schemas.records import Outgoing


class Stored(Struct):
    """The latest valid policy of each name; the highest version of each, removed ones too as long as they are to be seen.

    `wrong` are records that no process applies and nothing valid has followed, a sentence each, by key.
    """

    latest: dict[str, Policy]
    versions: dict[str, int]
    wrong: dict[bytes | None, str]


class Change(Struct, frozen=True):
    """What becomes of one policy that was put: `result` is `created`, `changed` or `unchanged`."""

    policy: Policy
    result: str


async def stored(settings: Settings) -> Stored:
    """Reads the topic to its end. Raises Retryable, and Misconfigured when there is none."""
    await partitions(settings, topics.POLICIES)
    found = Stored({}, {}, {})
    async with connections.policy_topic(settings) as topic:
        for record in await topic.to_end():
            try:
                name, policy = decoded(record)
            except Rejected as exc:
                name = (record.key or b"").decode(errors="replace")
                found.wrong[record.key] = f"a record of {name!r} at offset {record.offset} is passed over: {exc.detail}"
                continue
            found.wrong.pop(record.key, None)
            if policy is None:
                found.latest.pop(name, None)
            else:
                found.latest[name] = policy
                found.versions[name] = max(policy.version, found.versions.get(name, 0))
    return found


def changes(wanted: Iterable[Written], known: Stored) -> list[Change]:
    """What putting policies comes to; versions are counted here. Raises Misconfigured for one made from another version."""
    return [change(each, known.latest.get(each.policy.name), known.versions) for each in wanted]


def change(wanted: Written, current: Policy | None, versions: dict[str, int]) -> Change:
    name, at = wanted.policy.name, current.version if current is not None else 0
    if current is not None and structs.replace(wanted.policy, version=at) == current:
        return Change(current, "unchanged")
    if wanted.version is not None and current is not None and wanted.version != at:
        raise Misconfigured(
            f"{wanted.origin}: version is {wanted.version}, and the policy {name!r} is at {at} by now: begin with "
            f"`memstream policies show {name}`, or leave `version` out to put this one over it"
        )
    following = structs.replace(wanted.policy, version=versions.get(name, 0) + 1)
    return Change(following, "created" if current is None else "changed")


def records(made: Sequence[Change]) -> list[Outgoing]:
    """What has to be published."""
    return [
        Outgoing(topic=topics.POLICIES, key=each.policy.name.encode(), value=codec.encode(each.policy))
        for each in made
        if each.result != "unchanged"
    ]


def tombstone(name: str) -> Outgoing:
    return Outgoing(topic=topics.POLICIES, key=name.encode(), value=None)


def applying(settings: Settings, known: Stored) -> Policies:
    """The policies that a process with these settings goes by, in their order."""
    return Policies(tuple(known.latest.values())).over(settings.policies())
