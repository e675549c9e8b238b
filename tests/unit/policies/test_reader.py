"""The policies of a process: the latest valid ones of the topic above its own, without a restart."""

from datetime import UTC, datetime

import pytest

from agents.dead_letters.writer import dead_letter_headers
from agents.policies.reader import CurrentPolicies
from schemas import codec
from schemas.conversations.messages import Scope
from schemas.errors import Misconfigured, Retryable
from schemas.kafka import topics
from schemas.policies.matching import Match
from schemas.policies.policies import DEFAULT_POLICY, Policies, Policy
from tests.fakes.policy_topic import FakePolicyTopic
from tests.fakes.publisher import FakePublisher

NOTES = Scope(conversation_id="c", app_id="notes")
AT = datetime(2026, 11, 1, tzinfo=UTC)


class World:
    def __init__(self, *own: Policy) -> None:
        self.topic, self.publisher = FakePolicyTopic(), FakePublisher()
        self.policies = CurrentPolicies(Policies(own), self.topic, self.publisher, lambda: AT)
        self.reported: list[Policies] = []
        self.policies.add_listener(self.reported.append)


def notes(version: int = 1, **settings) -> Policy:
    return Policy(name="notes", match=Match(app_id="notes"), version=version, **settings)


async def test_policies_of_the_topic_are_read_before_work_starts():
    world = World()
    world.topic.put(notes(1), notes(2, max_text_chars=50))
    await world.policies.read()
    assert world.policies.match(NOTES) == notes(2, max_text_chars=50)
    assert world.policies.match(Scope(conversation_id="c", app_id="other")) is DEFAULT_POLICY


async def test_a_policy_change_applies_once_read_and_is_reported_to_listeners_once():
    world = World()
    await world.policies.read()
    assert world.policies.match(NOTES) is DEFAULT_POLICY
    world.topic.put(notes(2))
    await world.policies.follow()
    assert world.policies.match(NOTES) == world.policies.by_name("notes") == notes(2)
    await world.policies.follow()
    assert world.reported == [world.policies.now], "a change is reported once"


async def test_a_policy_of_the_topic_precedes_the_own_policy_of_its_name_until_it_is_removed():
    own, other = notes(1, max_text_chars=60), Policy(name="other")
    world = World(own, other)
    world.topic.put(notes(7))
    await world.policies.read()
    assert world.policies.now.listed == (notes(7), other)
    world.topic.remove("notes")
    await world.policies.follow()
    assert world.policies.now.listed == (own, other)


async def test_a_removed_policy_can_still_be_found_by_name_for_earlier_requests():
    world = World()
    world.topic.put(notes(3))
    await world.policies.read()
    world.topic.remove("notes")
    await world.policies.follow()
    assert world.policies.match(NOTES) is DEFAULT_POLICY
    assert world.policies.by_name("notes") == notes(3)
    world.topic.put(notes(4))
    await world.policies.follow()
    assert world.policies.by_name("notes") == notes(4)


@pytest.mark.parametrize(
    ("key", "value", "reason", "detail"),
    [
        (b"notes", b"{not json", "undecodable", "not JSON"),
        (b"notes", b'{"name": "notes", "max_text_chars": 3}', "invalid", "$.max_text_chars"),
        (b"notes", b'{"name": "notes", "of_tomorrow": 3}', "invalid", "of_tomorrow"),
        (b"notes", b'{"name": "notes", "namespaces": ["{nobody}"]}', "invalid", "{nobody}"),
        (b"notes", b'{"name": "others"}', "invalid", "'others'"),
        (None, codec.encode(notes()), "invalid", "no key"),
        (b"\xff", codec.encode(notes()), "invalid", "UTF-8"),
    ],
    ids=["no json", "out of range", "unknown field", "template", "another name", "no key", "no text as key"],
)
async def test_an_invalid_policy_record_is_dead_lettered_and_the_earlier_version_stays(key, value, reason, detail):
    world = World()
    world.topic.put(notes(2))
    await world.policies.read()
    world.topic.write(key, value)
    await world.policies.follow()
    assert world.policies.now.listed == (notes(2),)
    (letter,) = world.publisher.records
    assert (letter.topic, letter.key, letter.value) == (topics.DEAD_LETTERS, key, value)
    said = dead_letter_headers(letter.headers)
    assert (said["reason"], said["stage"], said["topic"], said["offset"]) == (
        reason,
        "policies",
        "memory.policies",
        "1",
    )
    assert detail in said["detail"]


@pytest.mark.parametrize("key", [b"caf\xe9", None])
async def test_deleting_an_invalid_record_by_its_key_is_no_invalid_record(key):
    world = World(notes(2))
    world.topic.write(key, None)
    await world.policies.read()
    assert (world.publisher.records, world.policies.now.listed) == ([], (notes(2),))


async def test_a_dead_letter_that_could_not_be_published_is_published_on_the_next_read():
    world = World()
    await world.policies.read()
    world.topic.write(b"notes", b"{")
    world.publisher.failures.append(Retryable("the brokers are away"))
    with pytest.raises(Retryable):
        await world.policies.follow()
    await world.policies.follow()
    assert [letter.value for letter in world.publisher.records] == [b"{"]


async def test_policies_already_read_apply_while_the_topic_is_unavailable():
    world = World()
    world.topic.put(notes(2))
    await world.policies.read()
    world.topic.down = True
    with pytest.raises(Retryable):
        await world.policies.follow()
    assert world.policies.match(NOTES) == notes(2)


async def test_an_error_of_a_policy_listener_is_raised_to_the_process():
    world = World()
    await world.policies.read()

    def refuse(policies: Policies) -> None:
        raise Misconfigured("texts would leave the machine")

    world.policies.add_listener(refuse)
    world.topic.put(notes(1, local_only=True))
    with pytest.raises(Misconfigured, match="would leave"):
        await world.policies.follow()
