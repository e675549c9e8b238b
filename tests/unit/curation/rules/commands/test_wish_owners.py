"""A forget wish selects only memories of its speaker: in a personal namespace all of them."""

from typing import Any

import pytest

from agents.curation.rules.commands.wishes import memories_meant
from agents.curation.rules.ledger.personal_namespaces import is_personal
from schemas.extraction.candidates import Source
from schemas.policies.policies import Policy
from tests.builders.memories import a_memory
from tests.builders.wishes import a_wish


def guests(name: str) -> Source:
    return Source(conversation_id="c", message_id="m", guest_id=name)


@pytest.mark.parametrize(
    ("sources", "theirs"),
    [
        ((guests("eve"),), True),
        ((guests("mallory"),), False),
        ((guests("eve"), guests("mallory")), False),
        ((Source(conversation_id="c", message_id="m"),), False),
    ],
)
@pytest.mark.parametrize("named", [{"topic": "my job"}, {"topic": "that", "memory_ids": ("memory",)}])
def test_a_guests_wish_selects_only_memories_of_that_guest(
    sources: tuple[Source, ...], theirs: bool, named: dict[str, Any]
) -> None:
    memory = a_memory("User works at Bosch.", memory_id="memory", sources=sources)
    wish = a_wish(message=guests("eve"), **named)

    assert bool(memories_meant(wish, [memory], (), personal=False)) is theirs


def source(conversation: str, user_id: str | None = None, attributed_to: str | None = None) -> Source:
    return Source(conversation_id=conversation, message_id="m", user_id=user_id, attributed_to=attributed_to)


@pytest.mark.parametrize(
    ("sources", "theirs"),
    [
        ((source("c", "ada"),), True),
        ((source("other", "ada"),), True),
        ((source("c", "bob"),), False),
        ((source("c", "ada"), source("c", "bob")), False),
        ((source("c", "ada", "assistant"),), False),
        ((source("c"),), False),
        ((), False),
    ],
)
def test_in_a_shared_namespace_only_memories_from_the_wishing_user_alone_are_selected(
    sources: tuple[Source, ...], theirs: bool
) -> None:
    memory = a_memory("ada lives in Berlin.", sources=sources)
    wish = a_wish(message=source("c", "ada"), statement="ada lives in Berlin.")

    assert bool(memories_meant(wish, [memory], (), personal=False)) is theirs


@pytest.mark.parametrize(("conversation", "theirs"), [("c", True), ("other", False)])
def test_a_wish_without_a_user_id_selects_only_memories_of_the_same_conversation(
    conversation: str, theirs: bool
) -> None:
    memory = a_memory("User lives in Berlin.", sources=(source(conversation),))
    wish = a_wish(message=source("c"), statement="User lives in Berlin.")

    assert bool(memories_meant(wish, [memory], (), personal=False)) is theirs


@pytest.mark.parametrize(
    ("templates", "shared"),
    [
        (("{tenant_id}/{user_id}", "{tenant_id}/{app_id}"), "acme/kitchen"),
        (("{user_id}", "{app_id}"), "kitchen"),
        (("{app_id}/{user_id}", "{app_id}/{conversation_id}"), "kitchen/c1"),
    ],
)
def test_a_shared_namespace_that_is_named_like_a_personal_one_is_nobodys(
    templates: tuple[str, ...], shared: str
) -> None:
    policy = Policy(name="group", namespaces=templates)
    memory = a_memory("Bob is diabetic.", namespace=shared, sources=(source("c", "bob"),))
    wish = a_wish(message=source("c", "ada"), topic="my health")

    assert not is_personal(shared, policy, "ada")
    assert memories_meant(wish, [memory], (), is_personal(shared, policy, "ada")) == []
    assert memories_meant(wish, [memory], (), personal=True) == [memory]


@pytest.mark.parametrize(
    ("text", "sources", "meant"),
    [
        ("Ada is pregnant.", ("m",), True),
        ("Ada's baby is due in May.", ("m",), True),
        ("Bob said that Ada is pregnant.", ("m",), True),
        ("Bob works with Ada at Siemens.", ("m",), False),
        ("Bob has an ada compiler.", ("m",), False),
        ("Adam is pregnant.", ("m",), False),
        ("Bob's flight to Rome is in May.", ("m",), False),
        ("Ada is pregnant.", ("m", "earlier"), False),
        ("Ada is pregnant.", ("earlier",), False),
        ("Ada leads the office in Lyon.", (), False),
    ],
)
def test_of_another_persons_message_only_memories_that_begin_with_the_wisher_and_rest_on_it_alone_are_selected(
    text: str, sources: tuple[str, ...], meant: bool
) -> None:
    said = [Source(conversation_id="c", message_id=each, user_id="bob") for each in sources]
    memory = a_memory(text, namespace="kitchen", sources=tuple(said))
    bobs = Source(conversation_id="c", message_id="m", user_id="bob")
    adas = Source(conversation_id="c", message_id="w", user_id="ada")
    wish = a_wish(message=adas, means=bobs, named_as="Ada", memory_ids=() if sources else (memory.memory_id,))

    assert bool(memories_meant(wish, [memory], (), personal=False)) is meant
