"""Remote rerankers: requests and answers of each protocol, and failures."""

from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from schemas.errors import MemstreamError, Misconfigured, Rejected, Retryable
from sinks.reranking.dialects import DIALECTS
from sinks.reranking.endpoint import RemoteReranker
from tests.servers.reranker import KEY, MODEL, SPOILT, TEI_BATCH, RerankServer

TEXTS = ["We had soup.", "The night train to Porto was late.", "A train."]
QUERY = "night train"
SCORES = [0.0, 1.0, 0.5]


@pytest.fixture
async def server() -> AsyncIterator[RerankServer]:
    async with RerankServer() as server:
        yield server


def reranker(server: RerankServer, dialect: str = "cohere", **given: object) -> RemoteReranker:
    options = {"base_url": server.url, "model": MODEL, "api_key": KEY, "timeout_s": 5.0} | given
    return RemoteReranker(DIALECTS[dialect], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_every_protocol_gives_a_score_for_each_text_in_their_order(server: RerankServer, dialect: str) -> None:
    async with aclosing(reranker(server, dialect)) as remote:
        assert await remote.scores(QUERY, TEXTS, ("n",)) == SCORES
    assert server.keys == [f"Bearer {KEY}"]


async def test_requests_use_the_field_names_of_each_protocol(server: RerankServer) -> None:
    for dialect in ("tei", "cohere", "jina", "voyage"):
        async with aclosing(reranker(server, dialect)) as remote:
            await remote.scores(QUERY, ["one"], ("n",))
    named = {"model": MODEL, "query": QUERY, "documents": ["one"]}
    assert server.seen == [
        {"model": MODEL, "query": QUERY, "texts": ["one"], "truncate": True},
        named,
        named | {"return_documents": False},
        named,
    ]


async def test_more_texts_than_a_server_takes_are_sent_in_batches(server: RerankServer) -> None:
    texts = [f"Text {number}." for number in range(2 * TEI_BATCH)] + ["The night train."]
    async with aclosing(reranker(server, "tei", model=None, api_key=None)) as remote:
        scores = await remote.scores(QUERY, texts, ("n",))
    assert scores == [0.0] * (2 * TEI_BATCH) + [1.0]
    assert sorted(len(body["texts"]) for body in server.seen) == [1, TEI_BATCH, TEI_BATCH]
    assert server.keys == [None] * 3 and "model" not in server.seen[0]


async def test_long_texts_are_cut(server: RerankServer) -> None:
    async with aclosing(reranker(server)) as remote:
        await remote.scores(QUERY, ["x" * 100_000], ("n",))
    assert len(server.seen[0]["documents"][0]) == 4_000


@pytest.mark.parametrize(
    ("step", "error", "words"),
    [
        ("limited", Retryable, "answered 429"),
        ("overloaded", Retryable, "answered 503"),
        ("forbidden", Misconfigured, "MEMSTREAM_RERANKER_API_KEY"),
        ("strange", Rejected, "query must not be empty"),
        ("status:404", Misconfigured, "MEMSTREAM_RERANKER_BASE_URL"),
        ("status:302", Misconfigured, "MEMSTREAM_RERANKER_BASE_URL"),
        ("page", Retryable, "something other than scores"),
        *((step, Retryable, "something other than scores") for step in sorted(SPOILT)),
    ],
)
async def test_a_reranker_failure_raises_the_matching_error_without_the_key(
    server: RerankServer, step: str, error: type[MemstreamError], words: str
) -> None:
    server.script(step)
    async with aclosing(reranker(server)) as remote:
        with pytest.raises(error, match=words) as raised:
            await remote.scores(QUERY, TEXTS, ("n",))
        assert KEY not in str(raised.value)
        assert await remote.scores(QUERY, TEXTS, ("n",)) == SCORES, "and the next one is asked as before"


async def test_an_unreachable_reranker_raises_retryable() -> None:
    async with RerankServer() as gone:
        url = gone.url
    remote = RemoteReranker(DIALECTS["tei"], url, None, None, timeout_s=1.0)
    async with aclosing(remote):
        with pytest.raises(Retryable, match="no answer from"):
            await remote.scores(QUERY, TEXTS, ("n",))


@pytest.mark.parametrize("url", ["rerank:8080", "http://", "ftp://host", "http://[::1", ""])
def test_an_invalid_base_url_raises_misconfigured(url: str) -> None:
    with pytest.raises(Misconfigured, match="MEMSTREAM_RERANKER_BASE_URL"):
        RemoteReranker(DIALECTS["tei"], url, None, None, timeout_s=1.0)
