"""A forget wish selects the memories of its speaker that match it, and no others."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from agents.curation.rules.commands.wishes import forget, is_personal, memories_meant, names_topic
from agents.curation.rules.ledger.ledger import Ledger
from agents.curation.rules.ledger.outcomes import WishOutcome
from schemas.extraction.candidates import CandidateBatch, Source, Wish
from schemas.memories.memories import Memory
from schemas.policies.policies import DEFAULT_POLICY, Policy
from tests.builders.memories import NOON, a_memory

WISH = Source(conversation_id="c", message_id="w")
KNOWN = (
    "User lives in Berlin.",
    "User works at Siemens as a nurse.",
    "User's wife works at Bosch.",
    "User's sister lives in Berlin.",
    "User is allergic to peanuts.",
    "User does not smoke.",
    "User has a dog named Rex.",
    "User's birthday is on 3 May.",
)


def chosen(known: tuple[str, ...] = KNOWN, **named: str) -> set[str]:
    wish = Wish(wish_id="w", message=WISH, **named)
    return {
        each.text
        for each in memories_meant(wish, [a_memory(text, memory_id=text) for text in known], (), personal=True)
    }


@pytest.mark.parametrize(
    ("stated", "text"),
    [
        ("User lives in Berlin.", "User lives in Berlin."),
        ("Der Nutzer wohnt in Berlin.", "User lives in Berlin."),
        ("User moved to Berlin.", "User lives in Berlin."),
        ("User works at Siemens.", "User works at Siemens as a nurse."),
        ("User is allergic to peanuts", "User is allergic to peanuts."),
    ],
)
def test_a_forget_wish_selects_memories_that_state_the_same(stated: str, text: str) -> None:
    assert chosen(statement=stated) == {text}


@pytest.mark.parametrize(
    "stated", ["User smokes.", "User lives in Lyon.", "User's brother lives in Berlin.", "User has a cat."]
)
def test_a_forget_wish_spares_memories_that_state_the_opposite_or_something_else(stated: str) -> None:
    assert chosen(statement=stated) == set()


@pytest.mark.parametrize(
    ("topic", "text"),
    [
        ("my job", "User works at Siemens as a nurse."),
        ("my old job", "User works at Siemens as a nurse."),
        ("meinen Job", "User works at Siemens as a nurse."),
        ("mon travail", "User works at Siemens as a nurse."),
        ("mi trabajo", "User works at Siemens as a nurse."),
        ("where I live", "User lives in Berlin."),
        ("wo ich wohne", "User lives in Berlin."),
        ("my wife", "User's wife works at Bosch."),
        ("my sister", "User's sister lives in Berlin."),
        ("Rex", "User has a dog named Rex."),
        ("my dog", "User has a dog named Rex."),
        ("my birthday", "User's birthday is on 3 May."),
        ("peanuts", "User is allergic to peanuts."),
    ],
)
def test_a_forget_wish_selects_memories_about_the_named_topic(topic: str, text: str) -> None:
    assert chosen(topic=topic) == {text}


@pytest.mark.parametrize("topic", ["my wife's job at Siemens", "my brother", "my car", "the weather", "my"])
def test_a_forget_wish_spares_memories_unrelated_to_the_named_topic(topic: str) -> None:
    assert chosen(topic=topic) == set()


@pytest.mark.parametrize(
    ("topic", "text", "is_meant"),
    [
        ("my engagement", "User got engaged in May.", True),
        ("my retirement", "User retired in 2024.", True),
        ("son licenciement", "L'utilisateur a été licencié en mars.", True),
        ("my department", "User departs on Friday.", False),
        ("my apartment", "User is apart from Tom.", False),
        ("mon frère", "L'utilisateur a un frère en prison.", True),
        ("mi hermano", "El usuario tiene un hermano en Quito.", True),
        ("mon frère", "L'utilisateur a une sœur en prison.", False),
        ("meine Gesundheit", "Der Nutzer hat Rheuma.", True),
        ("mi sueldo", "El usuario gana 2.300 euros al mes.", True),
    ],
)
def test_a_topic_selects_memories_that_say_it_in_a_related_word_or_another_language(
    topic: str, text: str, is_meant: bool
) -> None:
    assert chosen((text,), topic=topic) == ({text} if is_meant else set())


PRIVATE = (
    "User has diabetes.",
    "User takes the afternoon off for chemo.",
    "User's daughter has asthma.",
    "User works at Siemens as a nurse.",
    "User's wife works at Bosch.",
    "User owes the bank 3,000 euros.",
    "User's brother Tom is a pilot.",
    "User plays chess.",
)


@pytest.mark.parametrize(
    ("topic", "texts"),
    [
        ("my health", {"User has diabetes.", "User takes the afternoon off for chemo."}),
        ("meine Krankheit", {"User has diabetes.", "User takes the afternoon off for chemo."}),
        ("mon travail", {"User works at Siemens as a nurse."}),
        (
            "mi familia",
            {"User's daughter has asthma.", "User's wife works at Bosch.", "User's brother Tom is a pilot."},
        ),
        ("my finances", {"User owes the bank 3,000 euros."}),
        ("Tom", {"User's brother Tom is a pilot."}),
    ],
)
def test_a_broad_topic_selects_memories_of_that_theme_in_any_wording(topic: str, texts: set[str]) -> None:
    assert chosen(PRIVATE, topic=topic) == texts


def test_a_forget_wish_selects_only_memories_of_the_referenced_sentence_of_a_message() -> None:
    said = Source(conversation_id="c", message_id="m")
    known = [
        a_memory(text, memory_id=text, sources=(said,)) for text in ("User lives in Berlin.", "User lives in Lyon.")
    ]
    wish = Wish(wish_id="w", message=WISH, means=said, said="I live in Berlin.")

    assert [each.text for each in memories_meant(wish, known, (), personal=True)] == ["User lives in Berlin."]


def test_a_forget_wish_matches_the_referenced_sentence_to_memories_in_another_language() -> None:
    said = Source(conversation_id="c", message_id="m")
    texts = ("User has lived in Berlin with two dogs since 2019.", "User is a trained nurse, and has worked in Lyon.")
    known = [a_memory(text, memory_id=text, sources=(said,)) for text in texts]
    wish = Wish(wish_id="w", message=WISH, means=said, said="Ich wohne seit 2019 in Berlin, und zwar mit zwei Hunden.")

    assert [each.text for each in memories_meant(wish, known, (), personal=True)] == [texts[0]]


def test_a_forget_wish_spares_memories_stated_after_the_wish() -> None:
    def at(minute: int) -> Source:
        return Source(conversation_id="c", message_id=f"m{minute}", timestamp=NOON + timedelta(minutes=minute))

    earlier, later = (a_memory("User lives in Berlin.", memory_id=str(each), sources=(at(each),)) for each in (1, 3))
    wish = Wish(wish_id="w", message=at(2), statement="User lives in Berlin.")

    assert memories_meant(wish, [earlier, later], (), personal=True) == [earlier]


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
    wish = Wish(wish_id="w", message=guests("eve"), **named)

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
    wish = Wish(wish_id="w", message=source("c", "ada"), statement="ada lives in Berlin.")

    assert bool(memories_meant(wish, [memory], (), personal=False)) is theirs


@pytest.mark.parametrize(("conversation", "theirs"), [("c", True), ("other", False)])
def test_a_wish_without_a_user_id_selects_only_memories_of_the_same_conversation(
    conversation: str, theirs: bool
) -> None:
    memory: Memory = a_memory("User lives in Berlin.", sources=(source(conversation),))
    wish = Wish(wish_id="w", message=source("c"), statement="User lives in Berlin.")

    assert bool(memories_meant(wish, [memory], (), personal=False)) is theirs


@pytest.mark.parametrize(
    ("namespace", "user_id", "personal"),
    [
        ("kitchen/ada", "ada", True),
        ("~0123abcd/kitchen/ada", "ada", True),
        ("kitchen/a%2Fb", "a/b", True),
        ("kitchen/ada", "bob", False),
        ("kitchen/ada", None, False),
        ("kitchen", "ada", False),
    ],
)
def test_a_namespace_is_personal_to_the_user_that_its_template_takes_from_it(
    namespace: str, user_id: str | None, personal: bool
) -> None:
    policy = Policy(name="group", namespaces=("{app_id}/{user_id}", "{app_id}"))

    assert is_personal(namespace, policy, user_id) is personal


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
    wish = Wish(wish_id="w", message=source("c", "ada"), topic="my health")

    assert not is_personal(shared, policy, "ada")
    assert memories_meant(wish, [memory], (), is_personal(shared, policy, "ada")) == []
    assert memories_meant(wish, [memory], (), personal=True) == [memory]


@pytest.fixture
def forgetting(batch: Callable[..., CandidateBatch]) -> Callable[..., tuple[WishOutcome, set[str]]]:
    def make(*said: str, **named: Any) -> tuple[WishOutcome, set[str]]:
        """The outcome of a wish, and the texts of the memories that it leaves. Memories have their texts as ids."""
        ledger = Ledger("n", 1, [a_memory(text, memory_id=text) for text in said])
        wish = Wish(wish_id="w", message=WISH, **named)
        found = memories_meant(wish, ledger.live_memories(), (), personal=True)
        outcome = forget(ledger, batch(), wish, found, DEFAULT_POLICY, NOON, {})
        return outcome, {each.text for each in ledger.live_memories()}

    return make


def test_a_wish_forgets_the_memories_that_a_model_names_whatever_their_words(forgetting) -> None:
    outcome, remaining = forgetting(*KNOWN, topic="il mio cane", memory_ids=("User has a dog named Rex.",))

    assert outcome.result == "forgotten"
    assert remaining == set(KNOWN) - {"User has a dog named Rex."}


def test_a_wish_for_a_named_memory_also_forgets_others_of_its_topic(forgetting) -> None:
    dogs = ("User has a dog named Rex.", "User's dog Rex is a labrador.")

    outcome, remaining = forgetting(*KNOWN, dogs[1], topic="my dog Rex", memory_ids=dogs[:1])

    assert set(outcome.memory_ids) == set(dogs)
    assert remaining == set(KNOWN) - set(dogs)


def test_in_doubt_about_a_topic_only_the_named_memories_are_forgotten(forgetting) -> None:
    many = tuple(f"User's dog Rex learned trick number {number}." for number in range(7))

    outcome, remaining = forgetting(*many, topic="my dog Rex", memory_ids=many[:1])

    assert (outcome.result, outcome.memory_ids) == ("forgotten", many[:1])
    assert outcome.reason == "it may mean 7 memories, more than 5"
    assert remaining == set(many[1:])


def test_a_wish_for_a_message_that_says_more_forgets_only_what_its_words_say() -> None:
    meant = Source(conversation_id="c", message_id="m1")
    memories = [a_memory(text, memory_id=text, sources=(meant,)) for text in ("User is getting a divorce.", KNOWN[0])]
    wish = Wish(wish_id="w", message=WISH, topic="my divorce", said="my getting a divorce", messages=(meant,))

    assert [each.text for each in memories_meant(wish, memories, (), personal=False)] == ["User is getting a divorce."]


@pytest.mark.parametrize(
    ("content", "topic"),
    [
        ("my gf Yasmin says she wants it firmer", "Yasmin"),
        ("yasmin called", "Yasmin"),
        ("Yasmin's birthday is in May", "my girlfriend Yasmin"),
        ("My sister Clara gets married in Bologna", "my sister Clara"),
        ("Ich war mit Paul im Kino", "Paul"),
    ],
)
def test_a_message_that_names_the_topic_of_a_wish_is_meant(content: str, topic: str) -> None:
    assert names_topic(content, topic)


@pytest.mark.parametrize(
    ("content", "topic"),
    [
        ("I split up last week", "Yasmin"),
        ("My boss Clara is strict", "my sister Clara"),
        ("My job is boring", "my job"),
        ("Der Umzug war teuer", "meinen Umzug"),
        ("My sister Clara loves tea", "my sister Clara's wedding"),
        ("My family is large", "my family"),
    ],
)
def test_a_message_with_a_common_word_or_about_somebody_else_is_not_meant(content: str, topic: str) -> None:
    assert not names_topic(content, topic)
