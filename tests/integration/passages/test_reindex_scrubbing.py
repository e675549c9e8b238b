"""A reindex scrubs passages, names and user ids as the present policy requires."""

import pytest

from agents.passages import redacted_messages
from agents.passages.reindex import PassagesReindexed
from agents.passages.terms import stems, terms
from schemas.policies.matching import Match
from schemas.policies.policies import Policies, Policy, Privacy
from tests.fakes.embedder import RecordingEmbedder
from tests.integration.passages.conftest import Said


async def test_a_message_hidden_by_a_stricter_policy_is_found_scrubbed_after_a_reindex(said: Said) -> None:
    await said.said(said.message("Write to ada@example.org about the plums."), said.message("Bring the plums."))
    before = await said.pool.fetch("SELECT message_id, ordinal FROM passages ORDER BY 1")
    said.restrict()
    assert await said.found("plums") == ["Bring the plums."]
    assert (await said.reindexed()).replaced == 1
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
    assert (await said.reindexed()).replaced == 1
    assert "Write to [EMAIL]." in await said.found("write")


async def test_passages_without_private_data_are_read_without_scrubbing_after_a_privacy_change(
    said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    await said.said(said.message("Bring the plums."))
    said.restrict()
    assert await said.reindexed() == PassagesReindexed(written=0, removed=0, replaced=0)
    monkeypatch.setattr(redacted_messages, "searchable_text", refused)
    assert await said.found("plums") == ["Bring the plums."]


@pytest.mark.parametrize("aged", [False, True])
async def test_a_name_that_a_stricter_policy_scrubs_is_not_found_after_a_reindex(said: Said, aged: bool) -> None:
    await said.said(said.message("Bring the plums.", name="ada@example.org"), said.message("One pear.", name="Ada"))
    if aged:
        await said.make_version_1()
    assert await said.found("example.org")
    said.restrict()
    embedder = RecordingEmbedder()
    assert (await said.reindexed(embedder=embedder)).replaced == 1
    assert (await said.search.search("example.org", ("kitchen/ada",))).hits == ()
    assert embedder.embedded_texts == ["[EMAIL]: Bring the plums."]
    assert "Bring the plums." in await said.found("plums")
    assert (await said.reindexed()).replaced == 0


async def test_a_name_of_version_1_that_may_have_been_scrubbed_is_indexed_once_more(said: Said) -> None:
    said.restrict()
    await said.said(said.message("Bring the plums.", name="ada@example.org"))
    await said.make_version_1()
    said.allow()
    assert (await said.reindexed()).replaced == 1
    assert (await said.reindexed()).replaced == 0


async def test_an_email_address_as_user_id_reaches_neither_the_embedder_nor_the_words_if_the_policy_scrubs_it(
    said: Said,
) -> None:
    said.restrict()
    said.indexer._embedder = embedder = RecordingEmbedder()
    await said.said(said.message("Bring the plums.", user="ada@example.org"))
    assert embedder.embedded_texts == ["[EMAIL]: Bring the plums."]
    namespace = "kitchen/ada@example.org"
    assert (await said.search.search("example.org", (namespace,))).hits == ()
    ((row,),) = [await said.pool.fetch("SELECT speaker, terms FROM passages")]
    assert row["speaker"] == "ada@example.org", "an id, by which searches filter"
    assert set(row["terms"]).isdisjoint(terms(namespace, stems("ada example org")))
    assert await said.found("plums", namespace) == ["Bring the plums."]


async def test_a_user_id_of_version_1_that_the_policy_scrubs_is_indexed_again(said: Said) -> None:
    await said.said(said.message("Bring the plums.", user="ada@example.org"))
    await said.make_version_1()
    said.restrict()
    assert (await said.reindexed()).replaced == 1
    assert (await said.search.search("example.org", ("kitchen/ada@example.org",))).hits == ()


def refused(text: str, _privacy: object) -> str:
    raise AssertionError(f"scrubbed again: {text!r}")
