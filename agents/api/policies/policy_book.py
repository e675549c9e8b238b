"""Reads and writes policies for the HTTP API."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, Protocol

from msgspec import Struct

from agents.policies.changes import PolicyChange, StoredPolicies, latest_policies, plan_change, records, tombstone
from schemas.kafka.records import Publisher
from schemas.policies.policies import DEFAULT_POLICY, Policies, Policy


class PolicyTopic(Protocol):
    """The topic of policies (streams.kafka.policy_topic.PolicyTopic)."""

    async def to_end(self) -> Sequence[Any]:
        """Every record, from the beginning. Raises Retryable."""


class AppliedPolicy(Struct, frozen=True):
    """A policy and its origin: the topic, the process's policies file, or the built-in default."""

    origin: Literal["topic", "file", "built in"]
    policy: Policy


class PlannedPolicy(Struct, frozen=True):
    """A change, with all policies before and after it."""

    change: PolicyChange
    before: Policies
    after: Policies


class PolicyBook:
    """`opened` opens the topic; `beneath` are the policies of the process itself; `presets` ship. Who is
    in `writing` writes alone: versions are counted from what stands on the topic. Methods raise Retryable."""

    def __init__(
        self,
        opened: Callable[[], AbstractAsyncContextManager[PolicyTopic]],
        publisher: Publisher,
        beneath: Policies,
        presets: Mapping[str, Policy],
        writing: Callable[[], AbstractAsyncContextManager[None]],
    ) -> None:
        self._opened = opened
        self._publisher = publisher
        self._beneath = beneath
        self._writing = writing
        self.presets = presets

    async def applied(self) -> tuple[AppliedPolicy, ...]:
        """Policies in the order of matching; the built-in default is last."""
        known = await self._stored()
        listed = Policies(tuple(known.latest.values())).merged_over(self._beneath).listed
        found = (AppliedPolicy("topic" if each.name in known.latest else "file", each) for each in listed)
        return (*found, AppliedPolicy("built in", DEFAULT_POLICY))

    async def put(self, wanted: Policy, version: int | None) -> PolicyChange:
        """Publishes a policy as the next version of its name; all processes follow within a second.

        `version` is the one that it was made from: Rejected `outdated` if another one is there by now.
        """
        async with self._writing():
            made = plan_change(wanted, version, await self._stored())
            await self._publisher.publish(records([made]))
            return made

    async def planned(self, wanted: Policy, version: int | None) -> PlannedPolicy:
        """What putting a policy would come to; nothing is published. Raises Rejected `outdated`."""
        known = await self._stored()
        made = plan_change(wanted, version, known)
        latest = known.latest | {wanted.name: made.policy}
        before, after = (Policies(tuple(each.values())).merged_over(self._beneath) for each in (known.latest, latest))
        return PlannedPolicy(made, before, after)

    async def remove(self, name: str) -> Policy | None:
        """Deletes a policy from the topic and returns it; None if it does not exist."""
        async with self._writing():
            removed = (await self._stored()).latest.get(name)
            if removed is not None:
                await self._publisher.publish([tombstone(name)])
            return removed

    async def _stored(self) -> StoredPolicies:
        async with self._opened() as topic:
            return latest_policies(await topic.to_end())
