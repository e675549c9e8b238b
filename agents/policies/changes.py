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
    """The latest valid policy of each name, and the highest version of each, removed ones included as long as the topic has
    them.

    `invalid` are invalid records without a later valid one: a sentence each, by key.
    """

    latest: dict[str, Policy]
    versions: dict[str, int]
    invalid: dict[bytes | None, str]

    def key_of(self, name: str) -> bytes | None:
        """The key of the record to delete under this name, valid or not; None if there is none."""
        if name in self.latest:
            return name.encode()
        return next((key for key in self.invalid if key is not None and shown(key) == name), None)


class PolicyChange(Struct, frozen=True):
    """The result of putting a policy."""

    policy: Policy
    result: Literal["created", "changed", "unchanged"]


def latest_policies(records: Iterable[Any]) -> StoredPolicies:
    """The policies in the topic's records (aiokafka ConsumerRecord), given from beginning to end."""
    found = StoredPolicies({}, {}, {})
    for record in records:
        try:
            name, policy = decode_policy(record)
        except Rejected as exc:
            name = shown(record.key or b"")
            found.invalid[record.key] = f"a record of '{name}' at offset {record.offset} is ignored: {exc.detail}"
            continue
        found.invalid.pop(record.key, None)
        if policy is None:
            found.latest.pop(name, None)
        else:
            found.latest[name] = policy
            found.versions[name] = max(policy.version, found.versions.get(name, 0))
    return found


def plan_change(policy: Policy, version: int | None, known: StoredPolicies) -> PolicyChange:
    """The change of putting a policy, with its new version. `version` is the version that it is based on, None for any.
    Raises Rejected `outdated` if the current one is another."""
    name, current = policy.name, known.latest.get(policy.name)
    if current is not None and structs.replace(policy, version=current.version) == current:
        return PolicyChange(current, "unchanged")
    if current is not None and version not in (None, current.version):
        raise Rejected("outdated", f"version is {version}, and the policy {name!r} is at {current.version} now")
    following = structs.replace(policy, version=known.versions.get(name, 0) + 1)
    return PolicyChange(following, "created" if current is None else "changed")


def records(made: Sequence[PolicyChange]) -> list[Outgoing]:
    """The records to publish."""
    return [
        Outgoing(topic=topics.POLICIES, key=each.policy.name.encode(), value=codec.encode(each.policy))
        for each in made
        if each.result != "unchanged"
    ]


def tombstone(key: bytes) -> Outgoing:
    return Outgoing(topic=topics.POLICIES, key=key, value=None)


def shown(key: bytes) -> str:
    r"""A record's key as the name to delete it by, with bytes that are not UTF-8 escaped, as in `caf\xe9`."""
    return key.decode(errors="backslashreplace")
