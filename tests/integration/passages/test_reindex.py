"""`memstream reindex` makes the passage index match the archive and the policies."""

import logging
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import pytest

from agents.passages import indexer
from agents.passages.chunking import VERSION
from agents.passages.reindex import PassagesReindexed
from schemas.errors import Misconfigured
from schemas.policies.policies import Policies, Policy
from sinks.passages.vectors import PassagePoint, PassageVectors
from sinks.vectors.qdrant import COMPLETE_FOR_S
from tests.fakes.embedder import FakeEmbedder, PickyEmbedder
from tests.integration.passages.conftest import MONDAY, Said


class OtherEmbedder(FakeEmbedder):
    model = "other-word-hashes"


@asynccontextmanager
async def of_another_model(said: Said) -> AsyncIterator[PassageVectors]:
    """The same collection in a process with another embedding model."""
    known = {"dimension": FakeEmbedder().dimension, "collection": said.vectors.collection}
    async with aclosing(PassageVectors(said.vectors._client, embedding_model=OtherEmbedder.model, **known)) as vectors:
        yield vectors


async def test_a_lost_collection_is_rebuilt_and_everything_is_found_again(said: Said) -> None:
    await said.said(*(said.message(f"Plum number {number}.") for number in range(5)))
    await said.vectors.drop_collection()
    assert await said.reindexed() == PassagesReindexed(written=5, removed=0, replaced=0)
    await said.vectors.verify()
    assert await said.rows() == await said.points()
    assert len(await said.found("plum")) == 5


async def test_only_missing_points_are_written_and_unknown_ones_removed(said: Said) -> None:
    await said.said(*(said.message(f"Plum number {number}.") for number in range(5)))
    lost, *_ = sorted(await said.rows())
    await said.vectors.delete([lost])
    (vector,) = await FakeEmbedder().embed(["stray"])
    await said.vectors.write(
        [PassagePoint("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "kitchen/ada", "c1", "c1-9", "ada", MONDAY, vector)]
    )
    assert await said.reindexed() == PassagesReindexed(written=1, removed=1, replaced=0)
    assert await said.rows() == await said.points()
    assert await said.reindexed() == PassagesReindexed(written=0, removed=0, replaced=0)


async def test_vectors_of_another_model_are_rejected_until_the_reindex_replaces_them(said: Said) -> None:
    await said.said(said.message("The plums are ripe."))
    async with of_another_model(said) as vectors:
        assert await vectors.is_of_another_model()
        with pytest.raises(Misconfigured, match="memstream reindex"):
            await vectors.verify()
        assert await said.reindexed(vectors) == PassagesReindexed(written=1, removed=0, replaced=0)
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
        await said.reindexed(vectors)
        now_s += COMPLETE_FOR_S
        after = await said.search.search("plums", ("kitchen/ada",))
    # Then searches use words alone and report it, until the collection has vectors of the process's model again
    for degraded in (during, after):
        assert degraded.degraded == ("vectors_failed",)
        assert [(hit.passage.text, hit.cosine) for hit in degraded.hits] == [("The plums are ripe.", None)]
    await said.reindexed()
    assert (await said.search.search("plums", ("kitchen/ada",))).degraded == ()


async def test_messages_that_no_policy_recalls_are_removed_from_the_index(said: Said) -> None:
    await said.said(said.message("The plums are ripe."))
    said.policies = Policies((Policy(name="kitchen", recall=False),))
    assert (await said.reindexed()).replaced == 1
    await said.passages.drop_removed(said.vectors)
    assert await said.rows() == await said.points() == set()


async def test_reindex_keeps_the_namespaces_from_the_time_of_indexing(said: Said) -> None:
    await said.said(said.message("The plums are ripe."))
    said.policies = Policies((Policy(name="kitchen", namespaces=("{app_id}",)),))
    assert await said.reindexed() == PassagesReindexed(written=0, removed=0, replaced=0)
    assert await said.found("plums") == ["The plums are ripe."]


async def test_a_point_of_an_erased_message_left_by_a_crash_is_deleted_on_redelivery(said: Said) -> None:
    message = said.message("The boat is called Marlin.")
    await said.said(message)
    await said.pool.execute("DELETE FROM messages")
    await said.pool.execute("TRUNCATE passage_removals")  # as if the row had never been committed
    assert await said.indexer.index(await said.with_namespaces([message])) == 0
    assert await said.points() == set()


async def test_passages_built_by_another_version_are_rebuilt(said: Said) -> None:
    await said.said(said.message("The plums are ripe."))
    await said.pool.execute("UPDATE passages SET version = 0")
    assert await said.passages.of_other_version(VERSION)
    assert (await said.reindexed()).replaced == 1
    assert not await said.passages.of_other_version(VERSION)
    assert (await said.reindexed()).replaced == 0


async def test_passages_of_version_1_with_the_same_text_and_names_are_kept(said: Said) -> None:
    await said.said(said.message("The plums are ripe.", user="ada@example.org", name="Ada (ada@example.org)"))
    await said.said(said.message("Long. " * 300))
    await said.make_version_1()
    assert await said.reindexed(embedder=PickyEmbedder(".")) == PassagesReindexed(written=0, removed=0, replaced=0)
    assert not await said.passages.of_other_version(VERSION)
    said.restrict()
    assert (await said.reindexed()).replaced == 1, "the digest knows the names now"


async def test_passages_of_version_1_that_are_split_otherwise_now_are_rebuilt(
    said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "".join(f"今天我们谈到第{number}件事情，大家都说了很多话。" for number in range(100))
    with monkeypatch.context() as patch:
        patch.setattr(indexer, "all_pieces", lambda text: [text])
        await said.said(said.message(text), said.message("The plums are ripe."))
    await said.make_version_1()
    assert len(await said.rows()) == 2
    assert await said.reindexed() == PassagesReindexed(written=0, removed=0, replaced=1)
    await said.passages.drop_removed(said.vectors)
    assert len(await said.rows()) > 3
    assert await said.rows() == await said.points()
    hit, *_ = await said.found("谈到第77件事情")
    assert "第77件" in hit and len(hit) < 600
    assert (await said.reindexed()).replaced == 0


async def test_a_text_that_the_embedder_rejects_is_skipped_and_logged(
    said: Said, caplog: pytest.LogCaptureFixture
) -> None:
    await said.said(*(said.message(text) for text in ("One pear.", "A plum.", "Two pears.", "3 pears.")))
    await said.vectors.drop_collection()
    with caplog.at_level(logging.WARNING):
        counts = await said.reindexed(embedder=PickyEmbedder("plum"))
    assert counts == PassagesReindexed(written=3, removed=0, replaced=0, skipped=1)
    assert "passage 0 of message c1-2 is not embedded" in caplog.text
    await said.vectors.verify()
    assert len(await said.rows()) == 4
    assert len(await said.points()) == 3
    assert "A plum." in await said.found("plum"), "by its words"
    assert (await said.reindexed()).written == 1


async def test_a_rebuild_keeps_the_words_of_passages_that_the_embedder_rejects(said: Said) -> None:
    await said.said(said.message("Pear. " * 250 + "A plum. " * 100), said.message("A plum."), said.message("One pear."))
    await said.pool.execute("UPDATE passages SET version = 0")
    counts = await said.reindexed(embedder=PickyEmbedder("plum"))
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
    assert (await said.reindexed()).written == 3
