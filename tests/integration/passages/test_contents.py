"""What PostgreSQL, Qdrant and the embedder receive of a message that is indexed."""

from schemas.policies.policies import Policy, Privacy
from tests.fakes.embedder import SeparatingEmbedder
from tests.integration.passages.conftest import Said

TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
FILLER = " ".join(f"Sentence {number} says nothing of note at all today." for number in range(60))


async def test_the_text_of_a_message_is_stored_in_the_archive_alone(said: Said) -> None:
    await said.said(said.message("The marlin swims.", name="Wilhelmina"))
    tables = [row["tablename"] for row in await said.pool.fetch(TABLES)]
    for word in ("marlin", "Wilhelmina"):
        found = f"SELECT count(*) FROM {{}} AS entry WHERE entry::text LIKE '%{word}%'"
        assert [name for name in tables if await said.pool.fetchval(found.format(name))] == ["messages"]
    points, _ = await said.vectors._client.scroll(said.vectors._collection, with_payload=True)
    assert [sorted(point.payload or {}) for point in points] == [["conversation", "namespace", "said", "speaker"]]


async def test_the_embedder_receives_messages_names_and_questions_scrubbed(said: Said) -> None:
    embedder = SeparatingEmbedder()
    said.indexer._embedder = said.search._embedder = embedder
    said.follow(Policy(name="kitchen", privacy=Privacy(scrub=("email",))))
    await said.said(
        said.message("My password is hunter2secret, mail me at ada@example.org.", name="bob@example.org"),
        said.message(f"{FILLER} My password is hunter2secret, mail me at ada@example.org. {FILLER}"),
    )
    await said.found("My password is hunter2secret. Which mail did I name?")
    assert len(embedder.stored) > 3 and len(embedder.questions) == 1
    sent = "\n".join((*embedder.stored, *embedder.questions))
    assert sent.count("[EMAIL]") == 3 and "[PASSWORD]" in sent
    assert "example.org" not in sent and "hunter2secret" not in sent
