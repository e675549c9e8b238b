"""Reads the topic of policies and plans changes to it, for the command line and the API."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from msgspec import Struct, structs

from agents.policies.reader import decode_policy
from schemas import codec
from schemas.errors import Rejected
from schemas.kafka import topics
from schemas.kafka.records import Outgoing
from schemas.policies.policies import Policy


class StoredPolicies(Struct):
    """The latest valid policy of each name; the highest version of each, removed ones too as long as they are to be seen.

    `wrong` are records that no process applies and nothing valid has followed, a sentence each, by key.
    """

    latest: dict[str, Policy]
    versions: dict[str, int]
    wrong: dict[bytes | None, str]


class PolicyChange(Struct, frozen=True):
    """What becomes of one policy that was put."""

    policy: Policy
    result: Literal["created", "changed", "unchanged"]


def latest_policies(records: Iterable[Any]) -> StoredPolicies:
    """What the topic's records (aiokafka ConsumerRecord), from its beginning to its end, come to."""
    found = StoredPolicies({}, {}, {})
    for record in records:
        try:
            name, policy = decode_policy(record)
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


def plan_change(wanted: Policy, version: int | None, known: StoredPolicies) -> PolicyChange:
    """What putting a policy comes to; versions are counted here. `version` is the one that it was made from, None for any.

    Raises Rejected `outdated` where another one is there by now.
    """
    name, current = wanted.name, known.latest.get(wanted.name)
    if current is not None and structs.replace(wanted, version=current.version) == current:
        return PolicyChange(current, "unchanged")
    if current is not None and version not in (None, current.version):
        raise Rejected("outdated", f"version is {version}, and the policy {name!r} is at {current.version} by now")
    following = structs.replace(wanted, version=known.versions.get(name, 0) + 1)
    return PolicyChange(following, "created" if current is None else "changed")


def records(made: Sequence[PolicyChange]) -> list[Outgoing]:
    """What has to be published."""
    return [
        Outgoing(topic=topics.POLICIES, key=each.policy.name.encode(), value=codec.encode(each.policy))
        for each in made
        if each.result != "unchanged"
    ]


def tombstone(name: str) -> Outgoing:
    return Outgoing(topic=topics.POLICIES, key=name.encode(), value=None)
