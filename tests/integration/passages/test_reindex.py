"""`memstream reindex` makes the passage index match the archive and the policies."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import pytest

from agents.passages import redacted_messages
from agents.passages.chunking import VERSION
from agents.passages.reindex import PassageReindexer, PassagesReindexed
from agents.policies.audience import Audience
from schemas.errors import Misconfigured
from schemas.policies.policies import Policies, Policy
from sinks.archive.participants import Participants
from sinks.embeddings.fake import FakeEmbedder
from sinks.passages.renewal import PassageRenewal
from sinks.passages.vectors import PassagePoint, PassageVectors
from tests.integration.passages.conftest import MONDAY, Said


class OtherEmbedder(FakeEmbedder):
    model = "other-word-hashes"


async def reindexed(said: Said, vectors: PassageVectors | None = None) -> PassagesReindexed:
    index = vectors or said.vectors
    audience = Audience(Participants(said.pool), said.policies)
    renewal = PassageRenewal(said.pool, index)
    return await PassageReindexer(renewal, index, FakeEmbedder(), audience, said.policies).reindex(page=2)


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
    await said.pool.execute("UPDATE passages SET version = version - 1")
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


def refused(text: str, _privacy: object) -> str:
    raise AssertionError(f"scrubbed again: {text!r}")
