"""Lexical search alone, as memstream does it and by alternatives of PostgreSQL."""

from collections.abc import Sequence

from schemas.retrieval.searches import Filters
from sinks.memories.lexical import FullText
from sinks.postgres.connection import Pool
from tests.benchmarks.recall_measures import LIMIT, ranked_at
from tests.benchmarks.recall_sets import Asked

# Any of the words, as a question has many that no memory has.
ANY = "replace(plainto_tsquery('{config}', $1)::text, '&', '|')::tsquery"

SHIPPED = "as it is"
WAYS: dict[str, str] = {
    SHIPPED: "",
    "ts_rank, english": f"ts_rank(to_tsvector('english', text), {ANY.format(config='english')}, 1)",
    "ts_rank_cd, english": f"ts_rank_cd(to_tsvector('english', text), {ANY.format(config='english')}, 1)",
    "ts_rank, simple": f"ts_rank(to_tsvector('simple', text), {ANY.format(config='simple')}, 1)",
    "pg_trgm, word_similarity": "word_similarity($1, text)",
    "pg_trgm, similarity": "similarity($1, text)",
}


async def by_words(pool: Pool, way: str, question_set: Asked) -> dict[str, float]:
    await pool.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
    return ranked_at(
        [
            (question, await found(pool, way, question.namespace, question.text))
            for question in question_set.questions
            if question.answers
        ]
    )


async def found(pool: Pool, way: str, namespace: str, text: str) -> Sequence[str]:
    if way == SHIPPED:
        matches = await FullText(pool).search(text, namespaces=(namespace,), filters=Filters(), limit=LIMIT)
        return [match.memory_id for match in matches]
    rows = await pool.fetch(
        f"SELECT memory_id FROM (SELECT memory_id, {WAYS[way]} AS score FROM memories WHERE namespace = $2) AS scored "
        "WHERE score > 0 ORDER BY score DESC, memory_id LIMIT $3",
        text,
        namespace,
        LIMIT,
    )
    return [str(row["memory_id"]) for row in rows]
