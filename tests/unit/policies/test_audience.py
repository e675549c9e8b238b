"""A message belongs to its speaker, or to the addressee if it names no user."""

from datetime import UTC, datetime, timedelta

from agents.policies.audience import MAX_PEOPLE, Audience
from schemas.conversations.messages import Message, Scope
from schemas.policies.policies import Policies
from sinks.archive.messages import ArchivedMessage
from sinks.archive.participants import Participant
from tests.fakes.participants import FakeParticipants

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


def said(position: int, user: str | None = None, *, app: str | None = "kitchen", partition: int = 0) -> ArchivedMessage:
    message = Message(
        conversation_id="c",
        message_id=f"m{position}",
        role="user" if user else "assistant",
        timestamp=MONDAY + timedelta(minutes=position),
        content="Yes.",
        app_id=app,
        user_id=user,
    )
    return ArchivedMessage(message=message, partition=partition, position=position)


def joined(user: str, position: int, partition: int = 0) -> Participant:
    scope = Scope(conversation_id="c", app_id="kitchen", user_id=user)
    return Participant(
        scope=scope, partition=partition, position=position, said_at=MONDAY + timedelta(minutes=position)
    )


async def feeds(messages: list[ArchivedMessage], *known: Participant) -> list[tuple[str, ...]]:
    found = await Audience(FakeParticipants(*known), Policies()).with_namespaces(messages)
    return [each.feeds for each in found]


async def test_a_message_with_a_user_id_feeds_only_the_namespace_of_that_user() -> None:
    assert await feeds([said(5, "ada")], joined("bob", 1)) == [("kitchen/ada",)]


async def test_an_assistant_message_feeds_the_namespace_of_the_user_it_replies_to() -> None:
    assert await feeds([said(5)], joined("ada", 1)) == [("kitchen/ada",)]


async def test_an_assistant_message_without_an_app_id_takes_that_of_the_user() -> None:
    assert await feeds([said(5, app=None)], joined("ada", 1)) == [("kitchen/ada",)]


async def test_an_assistant_message_in_a_group_feeds_the_namespaces_of_everyone_who_spoke_before() -> None:
    group = (joined("ada", 1), joined("bob", 3))
    assert await feeds([said(5)], *group) == [("kitchen/ada", "kitchen/bob")]
    assert await feeds([said(2)], *group) == [("kitchen/ada",)]


async def test_a_speaker_first_seen_in_the_same_batch_is_an_addressee_of_the_reply() -> None:
    assert await feeds([said(1, "ada"), said(2)]) == [("kitchen/ada",), ("kitchen/ada",)]


async def test_a_speaker_counts_with_the_fields_of_the_first_message_in_whatever_batch_the_reply_comes() -> None:
    talk = [said(1, "ada"), said(2, "ada", app="pantry"), said(3, app=None)]
    assert (await feeds(talk))[-1:] == await feeds(talk[2:], joined("ada", 1)) == [("kitchen/ada",)]


async def test_a_message_before_any_user_spoke_feeds_the_namespace_of_the_conversation() -> None:
    assert await feeds([said(1), said(2, "ada")]) == [("conversation/c",), ("kitchen/ada",)]


async def test_across_partitions_earlier_speakers_are_determined_by_time() -> None:
    assert await feeds([said(5, partition=1)], joined("ada", 3), joined("bob", 9)) == [("kitchen/ada",)]


async def test_an_assistant_message_in_a_large_group_feeds_the_namespaces_of_those_who_joined_last() -> None:
    group = [joined(f"user-{number}", number) for number in range(MAX_PEOPLE + 5)]
    (found,) = await feeds([said(99)], *group)
    assert found == tuple(f"kitchen/user-{number}" for number in range(5, MAX_PEOPLE + 5))
