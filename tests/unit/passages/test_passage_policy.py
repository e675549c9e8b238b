"""A passage is read under the policy by which it was indexed, whether its conversation is projected or not."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from agents.passages import passage_policy as pp
from agents.passages.passage_policy import ConversationPolicies, MessageFields, MessagePolicies
from agents.policies import audience
from agents.policies.audience import fill_missing
from schemas.conversations.messages import Scope
from schemas.policies.matching import Match
from schemas.policies.policies import Policies, Policy
from sinks.archive.participants import Participant

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
KITCHEN = Policy(name="kitchen", match=Match(app_id="kitchen"), namespaces=("{app_id}", "{app_id}/{user_id}"))
CLINIC = Policy(name="clinic", match=Match(mode="clinic"), recall=False)
POLICIES = Policies((CLINIC, KITCHEN))
ADA = ("kitchen", "kitchen/ada")


def reply(*, window: Scope | None = None, **fields: Any) -> MessageFields:
    """A reply at position 5 with the given fields of its scope."""
    return MessageFields(Scope(conversation_id="c", **fields), (0, 5, NOON), window)


def person(user_id: str = "ada", *, position: int = 1, **fields: Any) -> Participant:
    scope = Scope(**({"conversation_id": "c", "app_id": "kitchen", "user_id": user_id} | fields))
    return Participant(scope=scope, partition=0, position=position, said_at=NOON - timedelta(minutes=5 - position))


def applied(message: MessageFields, *people: Participant, policies: Policies = POLICIES) -> MessagePolicies:
    return ConversationPolicies(people, policies).of(message)


def policy_name(namespace: str, message: MessageFields, *people: Participant) -> str | None:
    policy = applied(message, *people).known_of(namespace)
    return policy and policy.name


def test_a_reply_has_the_policy_of_the_person_addressed_before_its_conversation_is_projected():
    assert policy_name("kitchen/ada", reply(), person()) == "kitchen"


def test_a_reply_without_anything_known_of_its_conversation_has_no_policy():
    assert policy_name("kitchen/ada", reply()) is None
    assert policy_name("kitchen/ada", reply(app_id="kitchen")) is None


def test_a_reply_in_the_namespace_of_its_own_fields_needs_nobody_else():
    assert policy_name("kitchen", reply(app_id="kitchen")) == "kitchen"
    assert policy_name("conversation/c", reply()) == "default"


def test_a_greeting_before_everyone_has_the_policy_of_those_who_spoke_later():
    assert policy_name("conversation/c", reply(), person(position=9)) == "kitchen"


def test_the_conversation_fills_in_fields_that_message_and_person_lack():
    window = Scope(conversation_id="c", app_id="kitchen", user_id="ada", mode="clinic")
    assert policy_name("kitchen/ada", reply(window=window), person()) == "clinic"
    assert policy_name("kitchen/ada", reply(), person("bob", mode="clinic", position=9), person()) == "clinic"


def test_other_people_fill_in_nothing_of_a_message_that_names_its_user():
    window = Scope(conversation_id="c", app_id="kitchen", mode="clinic")
    of_ada = {"user_id": "ada", "app_id": "kitchen"}
    assert policy_name("kitchen/ada", reply(**of_ada), person("bob", mode="clinic")) == "kitchen"
    assert policy_name("kitchen/ada", reply(window=window, **of_ada), person("bob")) == "clinic"


def test_a_person_of_another_conversation_with_the_same_id_fills_in_nothing():
    elsewhere = replace(person("bob", mode="clinic", position=20), partition=1)
    assert policy_name("kitchen", reply(app_id="kitchen"), elsewhere) == "kitchen"


def test_of_several_people_the_one_whose_namespace_has_the_passage_decides():
    ada, bob = person(mode="clinic"), person("bob", position=2, app_id="pantry")
    assert policy_name("pantry/bob", reply(), ada, bob) == "clinic"  # ada's mode is the conversation's
    assert policy_name("kitchen/ada", reply(), person(), bob) == "kitchen"
    assert policy_name("pantry/bob", reply(), person(), bob) == "default"


def test_a_passage_in_a_namespace_of_an_earlier_template_keeps_the_policy_of_its_message():
    assert policy_name("earlier/ada", reply(), person()) == "kitchen"


def test_a_shared_namespace_does_not_own_the_reply_of_an_unprojected_conversation():
    found = applied(reply(), person())
    assert found.owners(ADA) == ("kitchen/ada",)
    assert found.owners(("kitchen",)) == ("kitchen",)


def test_a_namespace_that_one_persons_policy_shares_is_no_owner_under_anothers_policy():
    shared = Policy(name="shared", match=Match(app_id="kitchen"), namespaces=("{app_id}", "cook/{user_id}"))
    personal = Policy(name="personal", match=Match(app_id="pantry"), namespaces=("{app_id}/{user_id}",))
    ada, bob = person(), person("bob", position=2, app_id="pantry")
    for people in ((ada, bob), (bob, ada)):
        found = applied(reply(), *people, policies=Policies((shared, personal)))
        assert found.owners(("kitchen", "cook/ada", "pantry/bob")) == ("cook/ada", "pantry/bob")


def test_a_persons_namespace_is_an_owner_where_anothers_policy_shares_namespaces_of_such_names():
    shared = Policy(name="shared", match=Match(mode="cooking"), namespaces=("{app_id}/{agent_id}",))
    personal = Policy(name="personal", match=Match(mode="chat"), namespaces=("{app_id}/{user_id}",))
    people = (person(mode="cooking"), person("bob", position=2, mode="chat"))
    found = applied(reply(agent_id="remy"), *people, policies=Policies((shared, personal)))
    assert found.namespaces == ("kitchen/remy", "kitchen/bob")
    assert found.owners(found.namespaces) == ("kitchen/bob",)


def test_passages_of_a_large_conversation_fold_the_fields_of_its_people_once(monkeypatch: pytest.MonkeyPatch):
    filled: list[Scope] = []

    def counted(own: Scope, other: Scope) -> Scope:
        filled.append(other)
        return fill_missing(own, other)

    monkeypatch.setattr(pp, "fill_missing", counted)
    monkeypatch.setattr(audience, "fill_missing", counted)
    people = [person(f"user-{number}", position=1) for number in range(500)]
    conversation = ConversationPolicies(people, POLICIES)
    for _ in range(10):
        assert conversation.of(reply()).known_of("kitchen/user-499") is not None
    assert len(filled) < 500 + 10 * 2 * audience.MAX_PEOPLE
