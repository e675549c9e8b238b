"""Conversations of several people through a window, the offline provider and the records, without a server."""

import random
from collections.abc import Iterable, Mapping, Sequence

from agents.extraction.records import candidate_batches
from agents.models.offline.provider import OfflineProvider
from agents.models.port import Context
from schemas.conversations.messages import Message
from schemas.extraction.candidates import CandidateBatch
from schemas.extraction.requests import ExtractionRequest
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy
from streams.windows.window import Window
from tests.fakes.chats import BEGAN, CONVERSATION, always, control, message, requests_among, terms

PERSONAL = Policy(name="personal", namespaces=("{app_id}/{user_id}",))
TEAM = Policy(name="team", namespaces=("{app_id}/{user_id}", "{app_id}"))

# Each person uses another word, which identifies the source of every text.
PEOPLE = {
    f"{first}{last}".lower(): f"{first}{place}"
    for first in ("Ber", "Lis", "Por", "Ant", "Gra", "Tur", "Mal", "Kar")
    for last, place in zip(("a", "bo", "ce", "di", "eo"), ("ton", "burg", "ville", "stad", "holm"), strict=True)
}
FACTS = (
    "I live in {place}.",
    "I'm allergic to {place} nuts.",
    "I love {place} cider.",
    "I work at {place} Bakery.",
    "Ich wohne in {place}.",
    "I moved to {place}.",
    "J'habite à {place}.",
    "Vivo en {place}.",
    "Sorry, {place} I mean.",
    # About another person: only in the memory of the person who says it.
    "{other} is allergic to {place} nuts.",
    "My friend {other} works at {place} Bakery.",
    "{other} wohnt jetzt in {place}.",
)
# Statements that all people make in the same words, and messages without content.
COMMON = ("I work as a nurse.", "I have two kids.", "I don't eat meat.")
ASIDES = ("Hello!", "Really?", "Where do you live?", "Thanks, that helps a lot.", "What about you?")


def generated(seed: random.Random, conversation_id: str = CONVERSATION) -> list[Message]:
    """A conversation of two to four people and an assistant. The first person may lose the id, and some have names. The last
    person may be a guest, with a name and no id."""
    present = seed.sample(sorted(PEOPLE), seed.randint(2, 4))
    silent, named, visited = seed.random() < 0.3, seed.random() < 0.5, seed.random() < 0.4
    fields = {"name": present[0].title()} if named else {}
    said = [group_message(0, present[0], "Hello!", conversation_id=conversation_id, **fields)]
    for number in range(1, seed.randint(4, 16)):
        who = seed.choice(present)
        other = seed.choice([each for each in present if each != who])
        content, fields = seed.choice((*FACTS, *ASIDES, *COMMON)).format(place=PEOPLE[who], other=other.title()), {}
        is_guest = named and visited and who == present[-1]
        user_id = None if is_guest or (silent and who == present[0]) else who
        if seed.random() < 0.25:
            content, user_id, fields = f"{PEOPLE[who]} it is, {who}.", seed.choice((None, who)), {"role": "assistant"}
        elif named:
            fields = {"name": who.title()}
        said.append(group_message(number, user_id, content, conversation_id=conversation_id, **fields))
    return said


def speakers(said: Sequence[Message]) -> dict[str, str]:
    """The speaker of each message."""
    return {each.message_id: speaker(each, said[0]) for each in said if each.role == "user"}


def speaker(message: Message, first: Message) -> str:
    """Who said a message: its user, a guest by name, or the user of the first message."""
    guest = (message.name or "").lower() if first.name and message.name != first.name else ""
    return message.user_id or guest or first.user_id or ""


def guests(said: Sequence[Message]) -> set[str]:
    """The people who have no id."""
    return {*speakers(said).values()} - {each.user_id for each in said}


def misplaced(namespace: str, text: str, source_ids: Iterable[str], said_by: Mapping[str, str], unnamed: bool) -> bool:
    """Whether a memory is stored for another person, tells another person's fact, or does not name its person where other
    people have spoken.

    `unnamed`: only one person has spoken so far, so that the memory need not name them.
    """
    people = {said_by[message_id] for message_id in source_ids}
    owner = namespace.split("/")[1] if "/" in namespace else None
    if owner is not None and people != {owner}:
        return True
    if owner is None and not unnamed and not all(who in text.casefold() for who in people):
        return True
    return any(place in text for who, place in PEOPLE.items() if who not in people)


def group_message(number: int, user_id: str | None, content: str, **fields: object) -> Message:
    """A message in the app `kitchen`."""
    return message(number, content, user_id=user_id, app_id="kitchen", **fields)


def slices_of(messages: Sequence[Message], policy: Policy) -> list[ExtractionRequest]:
    """The requests of the conversation's window; each is answered at once."""
    window, known, now = Window.opened(CONVERSATION, 0), terms(policy), BEGAN.timestamp()
    effects = [each for at, said in enumerate(messages) for each in window.add(said, at, 10, always(known), now)]
    effects += window.control(control("flush"), len(messages), known, now)
    return requests_among(effects)


async def batches_of(request: ExtractionRequest, policy: Policy, *related: Memory) -> list[CandidateBatch]:
    """The candidate batches of the offline provider for curators."""
    answer = await OfflineProvider().extract(request, Context(policy=policy, related=related))
    return candidate_batches(request, answer, BEGAN)
