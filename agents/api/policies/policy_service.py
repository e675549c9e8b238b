"""Reads and writes policies for the HTTP API."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, Protocol

from msgspec import Struct

from agents.policies.changes import (
    PolicyChange,
    StoredPolicies,
    latest_policies,
    plan_change,
    records,
    shown,
    tombstone,
)
from schemas.kafka.records import Publisher
from schemas.policies.policies import DEFAULT_POLICY, Policies, Policy


class PolicyTopic(Protocol):
    """The compacted topic of policies (streams.kafka.policy_topic.PolicyTopic)."""

    async def to_end(self) -> Sequence[Any]:
        """Returns all records from the beginning to the current end. Raises Retryable."""


class AppliedPolicy(Struct, frozen=True):
    """A policy and its origin: the topic, the policies file of the process, or the built-in default."""

    origin: Literal["topic", "file", "built in"]
    policy: Policy


class InvalidPolicy(Struct, frozen=True):
    """A record of the topic that is no valid policy and is ignored: the name to delete it by, empty if it has no key, and the
    reason."""

    name: str
    reason: str


class PolicyList(Struct, frozen=True):
    """Policies in the order of matching, and ignored records by name."""

    policies: tuple[AppliedPolicy, ...]
    invalid: tuple[InvalidPolicy, ...] = ()


class PlannedPolicy(Struct, frozen=True):
    """A change of a policy, with all policies before and after the change."""

    change: PolicyChange
    before: Policies
    after: Policies


class PolicyService:
    """Reads and writes the policies of the topic. Methods raise Retryable.

    `open_topic` opens the topic, `base` are the policies of the process, and `presets` are the policies that ship with
    memstream. `write_lock` serialises writers, as the next version derives from the topic.
    """

    def __init__(
        self,
        open_topic: Callable[[], AbstractAsyncContextManager[PolicyTopic]],
        publisher: Publisher,
        base: Policies,
        presets: Mapping[str, Policy],
        write_lock: Callable[[], AbstractAsyncContextManager[None]],
    ) -> None:
        self._open_topic = open_topic
        self._publisher = publisher
        self._base = base
        self._write_lock = write_lock
        self.presets = presets

    async def listed(self) -> PolicyList:
        """Returns the policies in the order of matching, the built-in default last, and the invalid records of the topic."""
        stored = await self._stored()
        invalid = (InvalidPolicy(shown(key or b""), reason) for key, reason in stored.invalid.items())
        listed = Policies(tuple(stored.latest.values())).merged_over(self._base).listed
        found = (AppliedPolicy("topic" if each.name in stored.latest else "file", each) for each in listed)
        policies = (*found, AppliedPolicy("built in", DEFAULT_POLICY))
        return PolicyList(policies, tuple(sorted(invalid, key=lambda each: each.name)))

    async def put(self, policy: Policy, version: int | None) -> PolicyChange:
        """Publishes a policy as the next version of its name. All processes apply it within a second.

        `version` is the version that the policy is based on. Raises Rejected `outdated` if the topic has another one.
        """
        async with self._write_lock():
            change = plan_change(policy, version, await self._stored())
            await self._publisher.publish(records([change]))
            return change

    async def plan(self, policy: Policy, version: int | None) -> PlannedPolicy:
        """Returns the change that `put` would make, without publishing it. Raises Rejected `outdated`."""
        stored = await self._stored()
        change = plan_change(policy, version, stored)
        latest = stored.latest | {policy.name: change.policy}
        before, after = (Policies(tuple(each.values())).merged_over(self._base) for each in (stored.latest, latest))
        return PlannedPolicy(change, before, after)

    async def remove(self, name: str) -> bool:
        """Deletes a policy, or an invalid record of its name, from the topic. False if the topic has neither."""
        async with self._write_lock():
            if (key := (await self._stored()).key_of(name)) is not None:
                await self._publisher.publish([tombstone(key)])
            return key is not None

    async def _stored(self) -> StoredPolicies:
        async with self._open_topic() as topic:
            return latest_policies(await topic.to_end())
