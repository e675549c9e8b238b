"""Passages known to be clean are not scrubbed again, no private data is shown, and scrubbing does not hold the event loop."""

import threading
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from agents.passages import passage_reader, redacted_messages
from agents.passages.chunking import digest, piece_id, pieces, privacy_mark, searchable_text
from agents.passages.passage_reader import MAX_LOOP_CHARS, PassageReading
from agents.passages.redacted_messages import ENTRY_CHARS, RedactedMessages
from schemas.conversations.messages import Scope
from schemas.passages.passages import Passage
from schemas.policies.matching import Match
from schemas.policies.policies import Policies, Policy, Privacy
from sinks.archive.participants import Participant
from sinks.passages.store import PassageText

NOON = datetime(2026, 3, 2, tzinfo=UTC)
LONG = "We talked about plums and ovens. " * 300
OPEN = Policies((Policy(name="kitchen"),))
STRICT = Policies((Policy(name="kitchen", privacy=Privacy(scrub=("email",))),))


@pytest.fixture(autouse=True)
def spent(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """Counts the scrubbed characters, and keeps the threads that scrubbed."""
    counted = SimpleNamespace(chars=0, threads=set())

    def scrub(text: str, privacy: Privacy) -> str:
        counted.chars += len(text)
        counted.threads.add(threading.get_ident())
        return searchable_text(text, privacy)

    monkeypatch.setattr(redacted_messages, "searchable_text", scrub)
    yield counted


class Texts:
    """Stored passages; `asked` are the conversations whose participants were read."""

    def __init__(self, *stored: PassageText) -> None:
        self.stored = {each.passage.passage_id: each for each in stored}
        self.asked: list[str] = []

    async def texts(self, passage_ids: Collection[str], *, with_content: bool = True) -> dict[str, PassageText]:
        return {each: self.stored[each] for each in passage_ids if each in self.stored}

    async def participants(self, conversations: Collection[str]) -> list[Participant]:
        self.asked += conversations
        return []


class Group(Texts):
    """Stored passages of a reply to ada and bob, whose policies differ."""

    async def participants(self, conversations: Collection[str]) -> list[Participant]:
        self.asked += conversations
        scopes = [
            Scope(conversation_id="c", app_id=app, user_id=user)
            for user, app in (("ada", "kitchen"), ("bob", "pantry"))
        ]
        return [Participant(scope=scope, partition=0, position=0, said_at=NOON) for scope in scopes]


async def readable(stored: PassageText, policies: Policies) -> Passage | None:
    passage_id = stored.passage.passage_id
    read = (await PassageReading(Texts(stored), policies, RedactedMessages()).by_ids([passage_id])).get(passage_id)
    return read and read.passage


def found(
    content: str, *, clean_under: int | None, name: str | None = None, piece: int = 0, passage_id: str = "p"
) -> PassageText:
    passage = Passage(
        passage_id=passage_id,
        namespace="kitchen/ada",
        conversation_id="c",
        message_id="m",
        role="user",
        speaker="ada",
        name=name,
        said_at=NOON,
        text=content,
        piece=piece,
    )
    scope = Scope(conversation_id="c", app_id="kitchen", user_id="ada")
    indexed = pieces(searchable_text(content, Privacy()))[piece]
    return PassageText(
        passage=passage, scope=scope, namespaces=("kitchen/ada",), digest=digest(indexed), clean_under=clean_under
    )


async def test_a_message_known_to_be_clean_is_not_scrubbed_again(spent: SimpleNamespace) -> None:
    shown = await readable(found(LONG, clean_under=privacy_mark(Privacy())), OPEN)
    assert shown is not None and shown.text.startswith("We talked")
    assert spent.chars == 0


async def test_a_message_clean_under_other_privacy_settings_is_scrubbed(spent: SimpleNamespace) -> None:
    assert await readable(found("Write to ada@example.org.", clean_under=privacy_mark(Privacy())), STRICT) is None
    assert spent.chars > 0


async def test_a_message_of_unknown_cleanness_is_scrubbed_before_it_is_shown() -> None:
    shown = await readable(found("The password is hunter2Xy9!", clean_under=None), OPEN)
    assert shown is not None and "hunter2" not in shown.text


async def test_a_passage_whose_scrubbed_text_was_not_indexed_is_hidden() -> None:
    indexed = found("The plums are ripe.", clean_under=None)
    changed = replace(indexed, passage=replace(indexed.passage, text="The password is hunter2Xy9!"))
    assert await readable(changed, OPEN) is None


async def test_a_scrubbed_text_that_an_earlier_version_indexed_unsplit_is_shown() -> None:
    text = "我昨天去了北京的一家餐馆，那里的饺子非常好吃。" * 30 + " ada@example.org"
    scrubbed = searchable_text(text, STRICT.listed[0].privacy)
    stored = replace(found(text, clean_under=None), digest=digest(scrubbed))
    shown = await readable(stored, STRICT)
    assert shown is not None and shown.text == pieces(scrubbed)[0]
    assert await readable(replace(stored, digest=digest(text)), STRICT) is None


async def test_a_speaker_name_is_scrubbed() -> None:
    shown = await readable(found("Bring plums.", clean_under=None, name="ada@example.org"), STRICT)
    assert shown is not None and shown.name == "[EMAIL]"


async def test_scrubbing_does_not_hold_the_event_loop(spent: SimpleNamespace) -> None:
    assert await readable(found(LONG, clean_under=None), OPEN) is not None
    assert spent.threads and threading.get_ident() not in spent.threads


async def test_many_messages_are_not_split_on_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = set[int]()

    def recorded(text: str) -> list[str]:
        threads.add(threading.get_ident())
        return pieces(text)

    monkeypatch.setattr(passage_reader, "pieces", recorded)
    ids = [f"p{number}" for number in range(MAX_LOOP_CHARS // len(LONG) + 1)]
    stored = [found(LONG, clean_under=privacy_mark(Privacy()), passage_id=each) for each in ids]
    assert len(await PassageReading(Texts(*stored), OPEN, RedactedMessages()).recalled(ids)) == len(ids) > 1
    assert threads and threading.get_ident() not in threads


async def test_a_message_with_several_passages_is_scrubbed_once(spent: SimpleNamespace) -> None:
    stored = [found(LONG, clean_under=None, piece=piece, passage_id=f"p{piece}") for piece in range(3)]
    read = await PassageReading(Texts(*stored), OPEN, RedactedMessages()).by_ids(["p0", "p1", "p2"])
    assert len(read) == 3
    assert spent.chars == len(LONG)


async def test_a_message_is_scrubbed_once_for_several_answers_and_again_under_another_privacy_setting(
    spent: SimpleNamespace,
) -> None:
    redacted = RedactedMessages()
    for policies, scrubbed in ((OPEN, 1), (OPEN, 1), (STRICT, 2), (OPEN, 2)):
        stored = found(LONG, clean_under=None)
        assert await PassageReading(Texts(stored), policies, redacted).by_ids(["p"])
        assert spent.chars == scrubbed * len(LONG)


async def test_the_cache_of_scrubbed_messages_is_bounded(spent: SimpleNamespace) -> None:
    redacted = RedactedMessages(max_chars=50 + 2 * ENTRY_CHARS)
    for content in (
        "The plums are ripe again.",
        "The pears are ripe again.",
        "The figs are ripe.",
        "The plums are ripe again.",
    ):
        await redacted.of(found(content, clean_under=None).passage, Privacy())
    assert spent.chars == 25 + 25 + 18 + 25


async def test_short_messages_and_their_names_count_in_the_cache(spent: SimpleNamespace) -> None:
    redacted = RedactedMessages(max_chars=2 * ENTRY_CHARS + 100)
    for content in ("Yes.", "No.", "Yes."):
        await redacted.of(found(content, clean_under=None, name="n" * 60).passage, Privacy())
    assert spent.chars == 4 + 3 + 4 + 3 * 60


async def test_participants_are_read_once_for_an_answer_and_only_where_a_message_names_no_user() -> None:
    stored = [found("Bring plums.", clean_under=None, passage_id=f"p{number}") for number in range(3)]
    unnamed = Scope(conversation_id="c", app_id="kitchen")
    texts = Group(stored[0], *(replace(each, scope=unnamed) for each in stored[1:]))
    reading = PassageReading(texts, OPEN, RedactedMessages())
    asked = []
    for passage_id in ("p0", "p1", "p2"):
        assert len(await reading.by_ids([passage_id])) == 1
        asked.append(list(texts.asked))
    assert asked == [[], ["c"], ["c"]]


def in_both(content: str, indexed: str) -> list[PassageText]:
    """The passages of a reply in the namespaces of ada and bob. Ada's has this indexed text."""
    namespaces = ("kitchen/ada", "pantry/bob")
    ids = [piece_id(namespace, "c", "m", 0) for namespace in namespaces]
    made = [found(content, clean_under=None, passage_id=passage_id) for passage_id in ids]
    reply = Scope(conversation_id="c")
    passages = [replace(each.passage, namespace=name) for name, each in zip(namespaces, made, strict=True)]
    of_ada, of_bob = [
        replace(each, passage=passage, scope=reply, namespaces=namespaces)
        for each, passage in zip(made, passages, strict=True)
    ]
    return [replace(of_ada, digest=digest(indexed)), of_bob]


@pytest.mark.parametrize(
    "of_ada", [{"recall": False}, {"privacy": Privacy(scrub=("email",))}], ids=["not recalled", "scrubbed meanwhile"]
)
async def test_a_message_that_one_namespace_hides_is_shown_through_another_searched_one(of_ada: dict[str, Any]) -> None:
    policies = Policies((Policy(name="kitchen", match=Match(app_id="kitchen"), **of_ada), Policy(name="pantry")))
    text = "Write to ada@example.org."
    stored = in_both(text, indexed=text)
    ids = [each.passage.passage_id for each in stored]
    both = PassageReading(Group(*stored), policies, RedactedMessages(), ("kitchen/ada", "pantry/bob"))
    shown = await both.by_ids(ids[:1])
    assert [(each.passage.namespace, each.passage.text) for each in shown.values()] == [("pantry/bob", text)]
    alone = PassageReading(Group(*stored), policies, RedactedMessages(), ("kitchen/ada",))
    assert await alone.by_ids(ids[:1]) == {}
