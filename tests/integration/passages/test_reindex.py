"""`memstream reindex` makes the passage index match the archive and the policies."""

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest

from agents.passages import indexer, redacted_messages
from agents.passages.chunking import VERSION
from agents.passages.reindex import PassageReindexer, PassagesReindexed
from agents.passages.terms import stems, terms
from agents.policies.audience import Audience
from schemas.errors import Misconfigured, Rejected
from schemas.policies.policies import Match, Policies, Policy, Privacy
from sinks.archive.participants import Participants
from sinks.passages.renewal import PassageRenewal
from sinks.passages.vectors import PassagePoint, PassageVectors
from sinks.vectors.qdrant import COMPLETE_FOR_S
from tests.fakes.embedder import FakeEmbedder
from tests.integration.passages.conftest import MONDAY, Said


class OtherEmbedder(FakeEmbedder):
    model = "other-word-hashes"


class Picky(FakeEmbedder):
    """Rejects texts with one of the words, and keeps the texts that it embeds."""

    def __init__(self, *words: str) -> None:
        super().__init__()
        self.words = words
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Any:
        if any(word in text for text in texts for word in self.words):
            raise Rejected("unembeddable", "too long")
        self.texts += texts
        return await super().embed(texts)


async def reindexed(
    said: Said, vectors: PassageVectors | None = None, *, embedder: FakeEmbedder | None = None
) -> PassagesReindexed:
    index = vectors or said.vectors
    audience = Audience(Participants(said.pool), said.policies)
    renewal = PassageRenewal(said.pool, index)
    used = embedder or FakeEmbedder()
    return await PassageReindexer(renewal, index, used, audience, said.policies).reindex(page=2)


async def age(said: Said) -> None:
    """Makes all passages those of version 1."""
    await said.pool.execute("UPDATE passages SET version = 1, source_digest = NULL")


@asynccontextmanager
async def of_another_model(said: Said) -> AsyncIterator[PassageVectors]:
    """The same collection, for who embeds by another model."""
    known = {"dimension": FakeEmbedder().dimension, "collection": said.vectors.collection}
    async with aclosing(PassageVectors(said.vectors._client, embedding_model=OtherEmbedder.model, **known)) as vectors:
        yield vectors


async def test_a_lost_collection_is_rebuilt_and_everything_is_found_again(said: Said) -> None:
    await said.said(*(said.message(f"Plum number {number}.") for number in range(5)))
    await said.vectors.drop_collection()
    assert await reindexed(said) == PassagesReindexed(written=5, removed=0, replaced=0)
    await said.vectors.verify()
    assert await said.rows() == await said.points()
    assert len(await said.found("plum")) == 5


async def test_only_missing_points_are_written_and_unknown_ones_removed(said: Said) -> None:
    await said.said(*(said.message(f"Plum number {number}.") for number in range(5)))
    lost, *_ = sorted(await said.rows())
    await said.vectors.delete([lost])
    (vector,) = await FakeEmbedder().embed(["stray"])
    await said.vectors.write(
        [PassagePoint("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "kitchen/ada", "c1", "ada", MONDAY, vector)]
    )
    assert await reindexed(said) == PassagesReindexed(written=1, removed=1, replaced=0)
    assert await said.rows() == await said.points()
    assert await reindexed(said) == PassagesReindexed(written=0, removed=0, replaced=0)


async def test_vectors_of_another_model_are_rejected_until_the_reindex_replaces_them(said: Said) -> None:
    await said.said(said.message("The plums are ripe."))
    async with of_another_model(said) as vectors:
        assert await vectors.is_of_another_model()
        with pytest.raises(Misconfigured, match="memstream reindex"):
            await vectors.verify()
        assert await reindexed(said, vectors) == PassagesReindexed(written=1, removed=0, replaced=0)
        await vectors.verify()


async def test_a_running_search_is_degraded_while_the_collection_is_rebuilt_with_another_model(
    said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a process that searches, and checked the collection before
    await said.said(said.message("The plums are ripe."))
    now_s = said.vectors._clock() + COMPLETE_FOR_S
    monkeypatch.setattr(said.vectors, "_clock", lambda: now_s)
    found = await said.search.search("plums", ("kitchen/ada",))
    assert found.degraded == () and found.hits[0].cosine is not None
    # When the collection is emptied for another model, and when it has all vectors of that model
    async with of_another_model(said) as vectors:
        await vectors.recreate()
        now_s += COMPLETE_FOR_S
        during = await said.search.search("plums", ("kitchen/ada",))
        await reindexed(said, vectors)
        now_s += COMPLETE_FOR_S
        after = await said.search.search("plums", ("kitchen/ada",))
    # Then searches use words alone and report it, until the collection has vectors of the process's model again
    for degraded in (during, after):
        assert degraded.degraded == ("vectors_failed",)
        assert [(hit.passage.text, hit.cosine) for hit in degraded.hits] == [("The plums are ripe.", None)]
    await reindexed(said)
    assert (await said.search.search("plums", ("kitchen/ada",))).degraded == ()


async def test_a_message_hidden_by_a_stricter_policy_is_found_scrubbed_after_a_reindex(said: Said) -> None:
    await said.said(said.message("Write to ada@example.org about the plums."), said.message("Bring the plums."))
    before = await said.pool.fetch("SELECT message_id, ordinal FROM passages ORDER BY 1")
    said.restrict()
    assert await said.found("plums") == ["Bring the plums."]
    assert (await reindexed(said)).replaced == 1
    texts = await said.found("write plums")
    assert len(texts) == 2 and "example" not in " ".join(texts)
    assert await said.found("example.org") == []
    assert await said.pool.fetch("SELECT message_id, ordinal FROM passages ORDER BY 1") == before
    await said.passages.drop_removed(said.vectors)
    assert await said.rows() == await said.points()


async def test_a_reply_is_scrubbed_by_the_policy_that_its_conversation_has_through_its_window(said: Said) -> None:
    policies = Policies((Policy(name="strict", match=Match(mode="strict"), privacy=Privacy(scrub=("email",))),))
    await said.said(said.message("Where to?"), said.message("Write to ada@example.org.", role="assistant", user=None))
    await said.pool.execute(
        "INSERT INTO windows (conversation_id, mode, partition, source, revision, policy, phase, statistics, gaps, extracted_to, "
        "updated_at) VALUES ('c1', 'strict', 0, 's', 1, 'p', 'open', '{}', '[]', 0, now())"
    )
    said.search._policies = said.policies = policies
    assert "Write" not in " ".join(await said.found("write"))
    assert (await reindexed(said)).replaced == 1
    assert "Write to [EMAIL]." in await said.found("write")


async def test_messages_that_no_policy_recalls_are_removed_from_the_index(said: Said) -> None:
    await said.said(said.message("The plums are ripe."))
    said.policies = Policies((Policy(name="kitchen", recall=False),))
    assert (await reindexed(said)).replaced == 1
    await said.passages.drop_removed(said.vectors)
    assert await said.rows() == await said.points() == set()


async def test_reindex_keeps_the_namespaces_from_the_time_of_indexing(said: Said) -> None:
    await said.said(said.message("The plums are ripe."))
    said.policies = Policies((Policy(name="kitchen", namespaces=("{app_id}",)),))
    assert await reindexed(said) == PassagesReindexed(written=0, removed=0, replaced=0)
    assert await said.found("plums") == ["The plums are ripe."]


async def test_a_point_of_an_erased_message_left_by_a_crash_is_deleted_on_redelivery(said: Said) -> None:
    message = said.message("The boat is called Marlin.")
    await said.said(message)
    await said.pool.execute("DELETE FROM messages")
    await said.pool.execute("TRUNCATE passage_removals")  # as if the row had never been committed
    assert await said.indexer.index(await said.apply_events([message])) == 0
    assert await said.points() == set()


async def test_passages_built_by_another_version_are_rebuilt(said: Said) -> None:
    await said.said(said.message("The plums are ripe."))
    await said.pool.execute("UPDATE passages SET version = 0")
    assert await said.passages.of_other_version(VERSION)
    assert (await reindexed(said)).replaced == 1
    assert not await said.passages.of_other_version(VERSION)
    assert (await reindexed(said)).replaced == 0


async def test_passages_without_private_data_are_read_without_scrubbing_after_a_privacy_change(
    said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    await said.said(said.message("Bring the plums."))
    said.restrict()
    assert await reindexed(said) == PassagesReindexed(written=0, removed=0, replaced=0)
    monkeypatch.setattr(redacted_messages, "searchable_text", refused)
    assert await said.found("plums") == ["Bring the plums."]


async def test_passages_of_version_1_with_the_same_text_and_names_are_kept(said: Said) -> None:
    await said.said(said.message("The plums are ripe.", user="ada@example.org", name="Ada (ada@example.org)"))
    await said.said(said.message("Long. " * 300))
    await age(said)
    assert await reindexed(said, embedder=Picky(".")) == PassagesReindexed(written=0, removed=0, replaced=0)
    assert not await said.passages.of_other_version(VERSION)
    said.restrict()
    assert (await reindexed(said)).replaced == 1, "the digest knows the names now"


async def test_passages_of_version_1_that_are_split_otherwise_now_are_rebuilt(
    said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "".join(f"今天我们谈到第{number}件事情，大家都说了很多话。" for number in range(100))
    with monkeypatch.context() as patch:
        patch.setattr(indexer, "all_pieces", lambda text: [text])
        await said.said(said.message(text), said.message("The plums are ripe."))
    await age(said)
    assert len(await said.rows()) == 2
    assert await reindexed(said) == PassagesReindexed(written=0, removed=0, replaced=1)
    await said.passages.drop_removed(said.vectors)
    assert len(await said.rows()) > 3
    assert await said.rows() == await said.points()
    hit, *_ = await said.found("谈到第77件事情")
    assert "第77件" in hit and len(hit) < 600
    assert (await reindexed(said)).replaced == 0


@pytest.mark.parametrize("aged", [False, True])
async def test_a_name_that_a_stricter_policy_scrubs_is_not_found_after_a_reindex(said: Said, aged: bool) -> None:
    await said.said(said.message("Bring the plums.", name="ada@example.org"), said.message("One pear.", name="Ada"))
    if aged:
        await age(said)
    assert await said.found("example.org")
    said.restrict()
    embedder = Picky()
    assert (await reindexed(said, embedder=embedder)).replaced == 1
    assert (await said.search.search("example.org", ("kitchen/ada",))).hits == ()
    assert embedder.texts == ["[EMAIL]: Bring the plums."]
    assert "Bring the plums." in await said.found("plums")
    assert (await reindexed(said)).replaced == 0


async def test_a_name_of_version_1_that_may_have_been_scrubbed_is_indexed_once_more(said: Said) -> None:
    said.restrict()
    await said.said(said.message("Bring the plums.", name="ada@example.org"))
    await age(said)
    said.allow()
    assert (await reindexed(said)).replaced == 1
    assert (await reindexed(said)).replaced == 0


async def test_an_email_address_as_user_id_reaches_neither_the_embedder_nor_the_words_if_the_policy_scrubs_it(
    said: Said,
) -> None:
    said.restrict()
    said.indexer._embedder = embedder = Picky()
    await said.said(said.message("Bring the plums.", user="ada@example.org"))
    assert embedder.texts == ["[EMAIL]: Bring the plums."]
    namespace = "kitchen/ada@example.org"
    assert (await said.search.search("example.org", (namespace,))).hits == ()
    ((row,),) = [await said.pool.fetch("SELECT speaker, terms FROM passages")]
    assert row["speaker"] == "ada@example.org", "an id, by which searches filter"
    assert set(row["terms"]).isdisjoint(terms(namespace, stems("ada example org")))
    assert await said.found("plums", namespace) == ["Bring the plums."]


async def test_a_user_id_of_version_1_that_the_policy_scrubs_is_indexed_again(said: Said) -> None:
    await said.said(said.message("Bring the plums.", user="ada@example.org"))
    await age(said)
    said.restrict()
    assert (await reindexed(said)).replaced == 1
    assert (await said.search.search("example.org", ("kitchen/ada@example.org",))).hits == ()


async def test_a_text_that_the_embedder_rejects_is_skipped_and_logged(
    said: Said, caplog: pytest.LogCaptureFixture
) -> None:
    await said.said(*(said.message(text) for text in ("One pear.", "A plum.", "Two pears.", "3 pears.")))
    await said.vectors.drop_collection()
    with caplog.at_level(logging.WARNING):
        counts = await reindexed(said, embedder=Picky("plum"))
    assert counts == PassagesReindexed(written=3, removed=0, replaced=0, skipped=1)
    assert "passage 0 of message c1-2 is not embedded" in caplog.text
    await said.vectors.verify()
    assert len(await said.rows()) == 4
    assert len(await said.points()) == 3
    assert "A plum." in await said.found("plum"), "by its words"
    assert (await reindexed(said)).written == 1


async def test_a_rebuild_keeps_the_words_of_passages_that_the_embedder_rejects(said: Said) -> None:
    await said.said(said.message("Pear. " * 250 + "A plum. " * 100), said.message("A plum."), said.message("One pear."))
    await said.pool.execute("UPDATE passages SET version = 0")
    counts = await reindexed(said, embedder=Picky("plum"))
    assert (counts.replaced, counts.skipped) == (3, 3)
    await said.passages.drop_removed(said.vectors)
    rows = await said.pool.fetch("SELECT passage_id::text, message_id, piece FROM passages ORDER BY 2, 3")
    assert [(row["message_id"], row["piece"]) for row in rows] == [
        ("c1-1", 0),
        ("c1-1", 1),
        ("c1-1", 2),
        ("c1-2", 0),
        ("c1-3", 0),
    ]
    points = await said.points()
    assert [row["message_id"] for row in rows if row["passage_id"] in points] == ["c1-1", "c1-3"], "no vector of before"
    assert "A plum." in await said.found("plum")
    assert (await reindexed(said)).written == 3


def refused(text: str, _privacy: object) -> str:
    raise AssertionError(f"scrubbed again: {text!r}")
