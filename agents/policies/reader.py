"""The policies of a process: read from their topic before work starts, then followed. A change replaces all at once."""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Protocol

from agents.dead_letters.writer import dead_letter, position
from schemas import codec
from schemas.conversations.messages import Scope
from schemas.errors import Rejected
from schemas.kafka.records import Outgoing, Publisher
from schemas.policies.policies import Policies, Policy

log = logging.getLogger(__name__)

STAGE = "policies"


class PolicyTopic(Protocol):
    """Reads the topic; both methods raise Retryable."""

    async def to_end(self) -> list[Any]: ...

    async def since(self) -> list[Any]: ...


class CurrentPolicies:
    """The current policies for all agents of a process; follows the topic.

    `base` are the process's own policies: they apply where the topic has none of that name, also after a removal.
    """

    def __init__(self, base: Policies, topic: PolicyTopic, publisher: Publisher, clock: Callable[[], datetime]) -> None:
        self._base = base
        self._topic = topic
        self._publisher = publisher
        self._clock = clock
        self._named: dict[str, Policy] = {}
        self._retired: dict[str, Policy] = {}
        self._dead_letters: list[Outgoing] = []
        self._listeners: list[Callable[[Policies], None]] = []
        self.now = base

    def match(self, scope: Scope) -> Policy:
        return self.now.match(scope)

    def governing(self, namespace: str) -> Policy:
        return self.now.governing(namespace)

    def scopes_feeding(self, namespace: str) -> tuple[Scope, ...]:
        return self.now.scopes_feeding(namespace)

    def by_name(self, name: str) -> Policy:
        return self.now.by_name(name)

    def add_listener(self, listener: Callable[[Policies], None]) -> None:
        """Calls the listener at each change."""
        self._listeners.append(listener)

    async def read(self) -> None:
        """Reads the topic to its end. Raises Retryable."""
        self._apply(await self._topic.to_end())
        await self._publish_dead_letters()

    async def follow(self) -> None:
        """Applies changes since the last call. Raises Retryable; the next call continues."""
        await self._publish_dead_letters()
        if records := await self._topic.since():
            self._apply(records)
            await self._publish_dead_letters()

    def _apply(self, records: Sequence[Any]) -> None:
        for record in records:
            try:
                self._apply_record(record)
            except Rejected as rejected:  # the log may quote the error: policies contain no personal data
                log.warning("ignoring the policy at %s[%d]@%d: %s", *position(record), rejected.detail)
                self._dead_letters.append(dead_letter(record, STAGE, rejected, self._clock()))
        changed = Policies(tuple(self._named.values()), tuple(self._retired.values())).merged_over(self._base)
        if changed != self.now:
            self.now = changed
            log.info("policies: %s", ", ".join(map(label, changed.listed)) or "the built-in default")
            for listener in self._listeners:
                listener(changed)

    def _apply_record(self, record: Any) -> None:
        name, policy = decode_policy(record)
        if policy is None:
            if (gone := self._named.pop(name, None)) is not None:
                self._retired[name] = gone
        else:
            self._named[name] = policy
            self._retired.pop(name, None)

    async def _publish_dead_letters(self) -> None:
        if self._dead_letters:
            await self._publisher.publish(self._dead_letters)
            self._dead_letters = []


def policies_from(records: Sequence[Any]) -> Policies:
    """The policies in the topic's records. Invalid ones are skipped; a follower of the topic writes dead letters for them."""
    named: dict[str, Policy | None] = {}
    for record in records:
        with suppress(Rejected):
            name, policy = decode_policy(record)
            named[name] = policy
    return Policies(tuple(policy for policy in named.values() if policy is not None))


def decode_policy(record: Any) -> tuple[str, Policy | None]:
    """The name and the policy of a record; None removes it, whatever the key. Raises Rejected."""
    key = record.key or b""
    if record.value is None:
        return key.decode(errors="surrogateescape"), None  # no policy's name if the key is not UTF-8
    try:
        name = key.decode()
    except UnicodeDecodeError as exc:
        raise Rejected("invalid", "the key is not UTF-8: it should be the policy's name") from exc
    if not name:
        raise Rejected("invalid", "there is no key: it should be the policy's name")
    policy = codec.decode_untrusted(record.value, Policy)
    if policy.name != name:
        raise Rejected("invalid", f"the key is {name!r} and the policy's name {policy.name!r}: they should be the same")
    return name, policy


def label(policy: Policy) -> str:
    return f"{policy.name} (version {policy.version})"
