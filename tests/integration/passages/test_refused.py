"""A passage rejected by Qdrant or the embedder blocks no other and is retried a bounded number of times."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from agents.erasure.dead_letters import is_covered
from agents.passages.agent import RefusedPassages
from schemas import codec
from schemas.conversations.messages import Message
from schemas.erasure.erasures import Erasure
from schemas.kafka import topics
from schemas.kafka.records import Outgoing
from sinks.passages.vectors import PassagePoint
from tests.builders.dead_letters import record_of
from tests.builders.slices import MONDAY
from tests.fakes.embedder import FakeEmbedder, PickyEmbedder
from tests.fakes.publisher import FakePublisher
from tests.integration.passages.conftest import Said
from tests.json_schema import violations


class BrokenEmbedder(FakeEmbedder):
    """Vectors of texts about cats are too short for any index."""

    async def embed(self, texts: Sequence[str]) -> Any:
        vectors = await super().embed(texts)
        return [row[:-1] if "cat" in text else row for text, row in zip(texts, vectors, strict=True)]


@pytest.fixture
def sent(said: Said, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Returns the number of points of each write."""
    counts: list[int] = []
    written = said.vectors._written

    async def counted(structs: Sequence[Any]) -> None:
        counts.append(len(structs))
        await written(structs)

    monkeypatch.setattr(said.vectors, "_written", counted)
    return counts


def assert_names_its_message(letter: Outgoing, message: Message) -> None:
    """The letter names the message to people, and to an erasure of the conversation or of the namespace."""
    headers = {name: value.decode() for name, value in letter.headers}
    said = f"a passage of message {message.message_id} in conversation {message.conversation_id}: "
    assert headers["memstream-detail"].startswith(said)
    conversation = {"kind": "conversation", "conversation_id": message.conversation_id}
    for subject in (conversation, {"kind": "namespace", "namespace": "kitchen/ada"}):
        erasure = Erasure(erasure_id="e", at=MONDAY, actor="ada", positions={}, **subject)  # type: ignore[arg-type]
        assert is_covered(record_of(letter), erasure, (), ())


async def test_a_passage_rejected_by_qdrant_becomes_a_dead_letter_and_is_still_found_by_words(
    said: Said, sent: list[int]
) -> None:
    publisher = FakePublisher()
    said.vectors.on_refused = RefusedPassages(publisher, lambda: MONDAY).publish
    said.indexer._embedder = BrokenEmbedder()
    messages = [said.message(f"The {pet} eats plums.") for pet in ("dog", "cat", "bird")]
    assert await said.said(*messages) == 3
    assert sent == [3, 1, 1, 1]
    (refused,) = await said.rows() - await said.points()
    (letter,) = publisher.on(topics.DEAD_LETTERS)
    headers = {name: value.decode() for name, value in letter.headers}
    assert violations(headers, "dead-letter-headers") == []
    assert letter.key == refused.encode()
    assert_names_its_message(letter, messages[1].message)
    assert (headers["memstream-reason"], headers["memstream-stage"]) == ("refused", "passages")
    assert "The cat eats plums." in await said.found("cat plums")


@pytest.mark.parametrize("rejects", ["the index", "the embedder"])
async def test_erasing_a_user_covers_the_letters_of_passages_that_the_user_said_and_no_others(
    said: Said, rejects: str
) -> None:
    """Also of a letter that is written after the erasure began."""
    publisher = FakePublisher()
    refused = RefusedPassages(publisher, lambda: MONDAY + timedelta(hours=2))
    said.vectors.on_refused, said.indexer.on_rejected = refused.publish, refused.publish_rejected
    said.indexer._embedder = BrokenEmbedder() if rejects == "the index" else PickyEmbedder("cat")
    messages = {user: said.message(f"The cat of {user} eats plums.", user=user) for user in ("ada", "bob")}
    await said.said(*messages.values())
    letters = {codec.parse(each.value)["message_id"]: record_of(each) for each in publisher.on(topics.DEAD_LETTERS)}
    for user, archived in messages.items():
        erasure = Erasure(erasure_id="e", kind="user", at=MONDAY + timedelta(hours=1), actor="a", user_id=user)
        covered = {message_id for message_id, letter in letters.items() if is_covered(letter, erasure, {"c1"}, ())}
        assert covered == {archived.message.message_id}


async def test_a_redelivered_message_does_not_send_a_rejected_passage_again(said: Said, sent: list[int]) -> None:
    said.indexer._embedder = BrokenEmbedder()
    message = said.message("The cat eats plums.")
    await said.said(message)
    sent.clear()
    assert await said.said(message) == 0
    assert sent == []


async def test_a_reindex_skips_a_rejected_passage_and_adds_it_once_it_is_accepted(
    said: Said,
) -> None:
    said.indexer._embedder = BrokenEmbedder()
    await said.said(*(said.message(f"The {pet} eats plums.") for pet in ("dog", "cat", "bird")))
    for passage_id in await said.points():
        await said.vectors.delete([passage_id])
    await said.reindexed(embedder=BrokenEmbedder())
    assert len(await said.points()) == 2
    await said.reindexed()
    assert await said.points() == await said.rows()


async def test_no_passage_counts_as_rejected_while_the_collection_is_incomplete(said: Said) -> None:
    refused: list[PassagePoint] = []

    async def noted(point: PassagePoint, _: object) -> None:
        refused.append(point)

    said.vectors.on_refused = noted
    await said.vectors.recreate()
    said.indexer._embedder = BrokenEmbedder()
    with pytest.raises(Exception, match="is incomplete"):
        await said.said(said.message("The cat eats plums."))
    assert refused == []


async def test_a_message_that_the_embedder_rejects_becomes_a_dead_letter_and_is_still_found_by_words(
    said: Said,
) -> None:
    publisher = FakePublisher()
    said.indexer.on_rejected = RefusedPassages(publisher, lambda: MONDAY).publish_rejected
    said.indexer._embedder = PickyEmbedder("cat")
    messages = [said.message(f"The {pet} eats plums.") for pet in ("dog", "cat", "bird")]
    assert await said.said(*messages) == 3
    (rejected,) = await said.rows() - await said.points()
    (letter,) = publisher.on(topics.DEAD_LETTERS)
    headers = {name: value.decode() for name, value in letter.headers}
    assert violations(headers, "dead-letter-headers") == []
    assert letter.key == rejected.encode()
    assert_names_its_message(letter, messages[1].message)
    assert (headers["memstream-reason"], headers["memstream-stage"]) == ("unembeddable", "passages")
    assert "plums" not in headers["memstream-detail"]
    assert "The cat eats plums." in await said.found("cat plums")
    assert await said.said(*messages) == 0
    assert (await said.reindexed()).written == 1
