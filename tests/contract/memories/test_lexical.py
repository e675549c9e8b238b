"""Lexical search in memory and on PostgreSQL."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeAlias

import pytest
from msgspec.structs import replace

from schemas.errors import Retryable
from schemas.memories.memories import Memory
from schemas.retrieval.searches import Filters
from sinks.memories.lexical import FullText, LexicalIndex
from sinks.postgres.connection import Pool, connect
from tests.cases.filters import CASES, DAY, FILTERED, NOON, a_memory
from tests.cases.hostile_text import HARD_TO_STORE
from tests.fakes.memory_index import FakeMemoryIndex
from tests.memory_store import store

Remember: TypeAlias = Callable[..., Awaitable[None]]


@pytest.fixture
async def pool(dsn: str) -> AsyncIterator[Pool]:
    pool = await connect(dsn, max_size=2)
    yield pool
    await pool.close()


@pytest.fixture(params=["fake", "postgres"])
def lexical(request: pytest.FixtureRequest) -> LexicalIndex:
    return FakeMemoryIndex() if request.param == "fake" else FullText(request.getfixturevalue("pool"))


@pytest.fixture
def remember(lexical: LexicalIndex, request: pytest.FixtureRequest) -> Remember:
    async def put(*memories: Memory) -> None:
        if isinstance(lexical, FakeMemoryIndex):
            lexical.known |= {memory.memory_id: memory for memory in memories}
        else:
            await store(request.getfixturevalue("pool"), memories)

    return put


async def found(lexical: LexicalIndex, text: str, *namespaces: str, limit: int = 50, **filters: Any) -> list[str]:
    matches = await lexical.search(text, namespaces=namespaces, filters=Filters(**filters), limit=limit)
    assert all(0.0 < match.score <= 1.0 for match in matches)
    assert [match.score for match in matches] == sorted((match.score for match in matches), reverse=True)
    return [match.memory_id for match in matches]


async def test_memories_that_match_more_query_words_rank_first(
    lexical: LexicalIndex, remember: Remember, name: str
) -> None:
    both, one = (
        a_memory(f"{name}{text}", namespace=name, text=text) for text in ("Drinks green tea.", "Drives a green car.")
    )
    await remember(both, one, a_memory(f"{name}3", namespace=name, text="Has a dog."))
    assert await found(lexical, "green tea", name) == [both.memory_id, one.memory_id]
    assert await found(lexical, "green tea", name, limit=1) == [both.memory_id]
    assert await found(lexical, "motorcycle", name) == []


async def test_case_and_punctuation_do_not_matter(lexical: LexicalIndex, remember: Remember, name: str) -> None:
    tea = a_memory(name, namespace=name, text="Drinks GREEN tea!")
    await remember(tea)
    assert await found(lexical, "(green)... TEA?", name) == [tea.memory_id]


async def test_tags_are_searched_as_the_text_is(lexical: LexicalIndex, remember: Remember, name: str) -> None:
    queue = a_memory(name, namespace=name, text="Failed messages are replayed by hand.", tags=("DLQ",))
    await remember(queue)
    assert await found(lexical, "dlq", name) == [queue.memory_id]


async def test_only_the_given_namespaces_are_searched(lexical: LexicalIndex, remember: Remember, name: str) -> None:
    first, second, third = (
        a_memory(f"{name}{number}", namespace=f"{name}{number}", text="Drinks tea.") for number in range(3)
    )
    await remember(first, second, third)
    assert await found(lexical, "tea", f"{name}0") == [first.memory_id]
    assert set(await found(lexical, "tea", f"{name}0", f"{name}1")) == {first.memory_id, second.memory_id}
    assert await found(lexical, "tea", name) == []
    assert await found(lexical, f"{name}0", f"{name}1") == []


async def test_a_query_that_names_a_namespace_does_not_match_its_memories(
    lexical: LexicalIndex, remember: Remember, name: str
) -> None:
    await remember(a_memory(name, namespace=f"shop/{name}", text="Drinks tea."))
    for query in (f"/shop/{name}", f"shop/{name}", "~tea' | '/shop"):
        matches = await lexical.search(query, namespaces=("other",), filters=Filters(), limit=10)
        assert matches == []


@pytest.mark.parametrize("query", ["words", "list"])
async def test_search_and_list_return_exactly_the_memories_accepted_by_the_filters(
    lexical: LexicalIndex, remember: Remember, name: str, query: str
) -> None:
    renamed = {key: replace(memory, namespace=name, memory_id=f"{name}{key}") for key, memory in FILTERED.items()}
    await remember(*renamed.values())
    keys = {memory.memory_id: key for key, memory in renamed.items()}
    for filters, accepted in CASES:
        if query == "words":
            matches = await lexical.search("something", namespaces=(name,), filters=filters, limit=50)
            assert {keys[match.memory_id] for match in matches} == accepted, filters
        else:
            listed = await lexical.listed(namespaces=(name,), filters=filters, limit=50)
            assert {keys[memory.memory_id] for memory in listed} == accepted, filters
            assert list(listed) == sorted(listed, key=lambda memory: -memory.importance)


async def test_equally_important_memories_are_listed_latest_first(
    lexical: LexicalIndex, remember: Remember, name: str
) -> None:
    old = a_memory(f"{name}old", namespace=name, created_at=NOON - DAY)
    new = a_memory(f"{name}new", namespace=name)
    again = a_memory(f"{name}again", namespace=name, created_at=NOON - DAY, last_reinforced_at=NOON + DAY)
    await remember(old, new, again)
    listed = await lexical.listed(namespaces=(name,), filters=Filters(), limit=2)
    assert [memory.memory_id for memory in listed] == [again.memory_id, new.memory_id]


@pytest.mark.parametrize("text", [*HARD_TO_STORE, "' | & ! :* <-> (", "\\", "a" * 8_000, "x " * 4_000])
async def test_any_text_is_accepted_as_query(lexical: LexicalIndex, name: str, text: str) -> None:
    assert await found(lexical, text, name) == []
    word = text[:256] or "n"  # as long as names may be
    assert await found(lexical, "tea", word, kinds=(word,), tags=(word,)) == []


async def test_a_changed_memory_is_found_only_by_its_new_words(
    lexical: LexicalIndex, remember: Remember, name: str
) -> None:
    tea = a_memory(name, namespace=name, text="Drinks tea.", tags=("habit",))
    await remember(tea)
    await remember(replace(tea, text="Drinks coffee.", tags=(), version=2))
    assert await found(lexical, "tea", name) == await found(lexical, "habit", name) == []
    assert await found(lexical, "coffee", name) == [tea.memory_id]


async def test_a_deleted_memory_leaves_no_words_in_the_index(pool: Pool, name: str) -> None:
    tea = a_memory(name, namespace=name, text="Drinks tea.", context="Said at lunch.")
    await store(pool, [tea])
    await store(pool, [replace(tea, text="", context=None, status="deleted", version=2)])
    searchable = "SELECT searchable(namespace, text, tags, context, full_text, language)::text FROM memories WHERE memory_id = $1"
    assert await pool.fetchval(searchable, tea.memory_id) == ""


@pytest.mark.parametrize(
    "text, language, query",
    [
        ("User has two dogs.", None, "dog"),
        ("User läuft gerne Marathons.", "de", "wer läuft einen Marathon"),
        ("L'utilisateur mange des crêpes.", "fr", "crepe"),
        ("El usuario vive en Málaga.", "es", "malaga"),
        ("Пользователь любит собак.", "ru", "собака"),
        ("用户对花生过敏。", "zh", "花生"),
        ("ユーザーはコーヒーが好きです。", "ja", "コーヒー"),
        ("User uses react.js and a try-catch.", "en", "catch react"),
        ("The policy's number is V-20931-B.", None, "v20931 V-20931-B"),
        ("User's e-mail is ada@example.org.", "en", "example"),
    ],
)
async def test_words_are_matched_across_inflections_languages_and_scripts(
    pool: Pool, name: str, text: str, language: str | None, query: str
) -> None:
    memory = a_memory(name, namespace=name, text=text, language=language)
    await store(pool, [memory])
    assert await found(FullText(pool), query, name) == [memory.memory_id]


@pytest.mark.parametrize("query", ["what is the", "wer ist das?", "qu'est-ce que c'est", "你", "?!", ""])
async def test_a_query_of_stop_words_finds_nothing(pool: Pool, name: str, query: str) -> None:
    await store(pool, [a_memory(name, namespace=name, text="User is what the company calls an architect.")])
    assert await found(FullText(pool), query, name) == []


async def test_matches_in_context_or_full_text_score_half_of_matches_in_the_text(pool: Pool, name: str) -> None:
    said = a_memory(f"{name}1", namespace=name, text="User is in Lisbon.")
    beside = a_memory(f"{name}2", namespace=name, text="User is away.", context="A trip to Lisbon.")
    longer = a_memory(f"{name}3", namespace=name, text="User is off.", full_text="Off to Lisbon, by train.")
    await store(pool, [said, beside, longer])
    matches = await FullText(pool).search("Lisbon", namespaces=(name,), filters=Filters(), limit=5)
    scores = {match.memory_id: match.score for match in matches}
    assert scores[beside.memory_id] == scores[longer.memory_id] == pytest.approx(scores[said.memory_id] / 2)


async def test_a_rare_word_weighs_more_than_a_common_one(pool: Pool, name: str) -> None:
    common = [a_memory(f"{name}{n}", namespace=name, text=f"User likes the project {n}.") for n in range(5)]
    rare = a_memory(f"{name}rare", namespace=name, text="User likes badminton.")
    await store(pool, [*common, rare])
    assert (await found(FullText(pool), "badminton project", name))[0] == rare.memory_id


async def test_queries_on_a_closed_connection_pool_raise_retryable(dsn: str) -> None:
    pool = await connect(dsn)
    await pool.close()
    with pytest.raises(Retryable):
        await found(FullText(pool), "tea", "n")
    with pytest.raises(Retryable):
        await FullText(pool).listed(namespaces=("n",), filters=Filters(), limit=1)


async def test_a_moment_after_the_expiry_of_a_memory_excludes_it(pool: Pool, name: str) -> None:
    tea = a_memory(name, namespace=name, text="Drinks tea.", expires_at=NOON + DAY, valid_until=NOON + 3 * DAY)
    await store(pool, [tea])
    for days, accepted in ((0, [tea.memory_id]), (1, []), (2, [])):
        assert await found(FullText(pool), "tea", name, valid_at=NOON + days * DAY) == accepted
        listed = await FullText(pool).listed(namespaces=(name,), filters=Filters(valid_at=NOON + days * DAY), limit=5)
        assert [each.memory_id for each in listed] == accepted
