"""Remote embedders that fail, reject requests or return invalid answers, in both protocols."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime

import numpy as np
import pytest

from schemas.errors import Misconfigured, Rejected, Retryable
from sinks.embeddings.endpoint import ATTEMPTS, Endpoint, retry_after_s
from sinks.embeddings.protocols import Dialect, OllamaDialect, OpenAiDialect
from sinks.embeddings.remote import BATCH, MAX_CHARS, MIN_CHARS, RemoteEmbedder
from tests.fakes.embedder import FakeEmbedder
from tests.servers.embeddings import KEY, MODEL, EmbeddingServer

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TEXTS = ["The user drinks tea", "Invoices are due on Friday"]
DIALECTS = {"ollama": OllamaDialect(), "openai": OpenAiDialect()}


class Bench:
    """A server, and an embedder at it that waits for nothing and remembers how long it would have."""

    def __init__(self, protocol: str, server: EmbeddingServer) -> None:
        self.server = server
        self.dialect: Dialect = DIALECTS[protocol]
        self.base_url = server.openai_url if protocol == "openai" else server.url
        self.waited: list[float] = []
        self.endpoint = self.at(self.base_url)

    def at(self, base_url: str, api_key: str | None = None, timeout_s: float = 5.0) -> Endpoint:
        return Endpoint(base_url, api_key, timeout_s=timeout_s, sleep=self.wait, clock=lambda: NOON)

    async def wait(self, seconds: float) -> None:
        self.waited.append(seconds)

    async def embedder(self, dimension: int | None = None) -> RemoteEmbedder:
        return await RemoteEmbedder.connect(self.endpoint, self.dialect, MODEL, dimension)


@pytest.fixture(params=["ollama", "openai"])
async def bench(request: pytest.FixtureRequest) -> AsyncIterator[Bench]:
    async with EmbeddingServer() as server:
        bench = Bench(request.param, server)
        yield bench
        await bench.endpoint.aclose()


async def test_the_dimension_is_taken_from_the_vectors_of_the_endpoint(bench: Bench) -> None:
    bench.server.dimension = 48
    embedder = await bench.embedder()
    assert embedder.dimension == 48
    assert (await embedder.embed(TEXTS)).shape == (2, 48)


async def test_a_configured_dimension_is_sent_in_every_request(bench: Bench) -> None:
    embedder = await bench.embedder(24)
    assert (await embedder.embed(TEXTS)).shape == (2, 24)
    assert [body["dimensions"] for body in bench.server.seen] == [24, 24]


async def test_texts_are_sent_in_batches_and_vectors_keep_their_order(bench: Bench) -> None:
    embedder = await bench.embedder()
    texts = [f"text number {number}" for number in range(2 * BATCH + 1)]
    vectors = await embedder.embed(texts)
    np.testing.assert_allclose(vectors, await FakeEmbedder().embed(texts), atol=1e-5)
    assert [len(body["input"]) for body in bench.server.seen[1:]] == [BATCH, BATCH, 1]


async def test_batches_shrink_for_a_server_that_accepts_fewer_texts() -> None:
    async with EmbeddingServer(max_texts=10) as server:
        bench = Bench("openai", server)
        texts = [f"text number {number}" for number in range(25)]
        vectors = await (await bench.embedder()).embed(texts)
        np.testing.assert_allclose(vectors, await FakeEmbedder().embed(texts), atol=1e-5)
        assert bench.waited == []
        await bench.endpoint.aclose()


@pytest.mark.parametrize("protocol", DIALECTS)
async def test_a_text_that_is_too_long_for_the_server_is_halved_until_it_fits(protocol: str) -> None:
    async with EmbeddingServer(max_chars=100, cuts=False) as server:
        bench = Bench(protocol, server)
        overlong = "word " * 70
        vectors = await (await bench.embedder()).embed(["short", overlong, "brief"])
        expected = await FakeEmbedder().embed(["short", overlong[: len(overlong) // 4], "brief"])
        np.testing.assert_allclose(vectors, expected, atol=1e-5)
        await bench.endpoint.aclose()


async def test_only_the_beginning_of_a_very_long_text_is_sent(bench: Bench) -> None:
    await (await bench.embedder()).embed(["x" * 100_000])
    assert max(len(text) for body in bench.server.seen for text in body["input"]) <= MAX_CHARS


async def test_a_text_that_does_not_fit_at_the_minimum_length_is_rejected() -> None:
    async with EmbeddingServer(max_chars=MIN_CHARS - 10) as server:
        bench = Bench("openai", server)
        embedder = RemoteEmbedder(bench.endpoint, bench.dialect, MODEL, 384)
        with pytest.raises(Rejected, match="unembeddable"):
            await embedder.embed(["a sentence that fits nowhere"])
        await bench.endpoint.aclose()


@pytest.mark.parametrize("step", ["limited", "overloaded", "loading", "status:502", "page", "fewer", "wrong_index"])
async def test_a_transient_failure_is_retried(bench: Bench, step: str) -> None:
    if step == "wrong_index" and isinstance(bench.dialect, OllamaDialect):
        pytest.skip("Ollama's answers have no index")
    embedder = await bench.embedder()
    bench.server.script(step)
    np.testing.assert_allclose(await embedder.embed(TEXTS), await FakeEmbedder().embed(TEXTS), atol=1e-5)
    assert len(bench.waited) == 1
    assert bench.waited[0] >= (3.0 if step == "limited" else 0.0)


@pytest.mark.parametrize("step", ["limited", "overloaded", "page", "fewer"])
async def test_a_persistent_failure_raises_retryable_after_a_few_attempts(bench: Bench, step: str) -> None:
    embedder = await bench.embedder()
    bench.server.script(*[step] * ATTEMPTS)
    with pytest.raises(Retryable, match=r"127\.0\.0\.1"):
        await embedder.embed(TEXTS)
    assert len(bench.waited) == ATTEMPTS - 1


async def test_a_long_retry_after_raises_retryable_without_waiting(bench: Bench) -> None:
    embedder = await bench.embedder()
    bench.server.script("limited_long")
    with pytest.raises(Retryable, match="wait 300 s"):
        await embedder.embed(TEXTS)
    assert bench.waited == []


async def test_an_unavailable_or_slow_server_raises_retryable(bench: Bench) -> None:
    embedder = await bench.embedder()
    bench.server.script(*["slow"] * ATTEMPTS)
    async with aclosing(bench.at(bench.base_url, timeout_s=0.2)) as hasty:
        with pytest.raises(Retryable, match="no answer"):
            await RemoteEmbedder.connect(hasty, bench.dialect, MODEL)
    await bench.server.stop()
    with pytest.raises(Retryable, match="no answer"):
        await embedder.embed(TEXTS)


@pytest.mark.parametrize("step", ["zero", "nan", "null"])
async def test_a_zero_vector_is_rejected(bench: Bench, step: str) -> None:
    embedder = await bench.embedder()
    bench.server.script(step)
    with pytest.raises(Rejected, match="a vector of zeros"):
        await embedder.embed(TEXTS)
    bench.server.script(step)
    with pytest.raises(Misconfigured, match="cannot be used as an embedder"):
        await bench.embedder()


async def test_a_vector_of_a_different_dimension_raises_misconfigured_with_the_remedy(bench: Bench) -> None:
    embedder = await bench.embedder()
    bench.server.script("short")
    with pytest.raises(Misconfigured, match=r"dimension 383, not 384.*memstream reindex"):
        await embedder.embed(TEXTS)


async def test_a_refused_text_is_rejected_and_a_refused_connection_test_is_a_misconfiguration(bench: Bench) -> None:
    embedder = await bench.embedder()
    bench.server.script("strange")
    with pytest.raises(Rejected, match="forbidden token"):
        await embedder.embed(TEXTS)
    bench.server.script("strange")
    with pytest.raises(Misconfigured, match="forbidden token"):
        await bench.embedder()


async def test_an_unknown_model_is_a_misconfiguration(bench: Bench) -> None:
    with pytest.raises(Misconfigured, match="MEMSTREAM_EMBEDDER_MODEL"):
        await RemoteEmbedder.connect(bench.endpoint, bench.dialect, "gone")


async def test_an_invalid_api_key_is_a_misconfiguration_and_never_appears_in_messages() -> None:
    async with EmbeddingServer(key=KEY) as server:
        bench = Bench("openai", server)
        async with aclosing(bench.at(bench.base_url, KEY)) as endpoint:
            embedder = await RemoteEmbedder.connect(endpoint, bench.dialect, MODEL)
            server.script("forbidden")
            with pytest.raises(Misconfigured) as refused:
                await embedder.embed(TEXTS)
            assert KEY not in str(refused.value) + repr(endpoint) + repr(embedder)
        with pytest.raises(Misconfigured, match=r"401.*MEMSTREAM_EMBEDDER_API_KEY"):
            await bench.embedder()
        await bench.endpoint.aclose()


@pytest.mark.parametrize("base_url", ["", "localhost:80", "ftp://somewhere", "http://[", "http://host:port"])
def test_an_invalid_base_url_is_a_misconfiguration(base_url: str) -> None:
    with pytest.raises(Misconfigured, match="MEMSTREAM_EMBEDDER_BASE_URL"):
        Endpoint(base_url)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, 0.0),
        ("7", 7.0),
        ("Sun, 01 Mar 2026 12:00:09 GMT", 9.0),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0.0),
        ("soon", 0.0),
        ("-5", 0.0),
    ],
)
def test_retry_after_is_parsed_as_seconds_and_as_a_date(header: str | None, seconds: float) -> None:
    assert retry_after_s(header, NOON) == seconds


@pytest.mark.parametrize(("written", "recorded"), [("Bge-M3", "bge-m3:latest"), ("a/b:7B", "a/b:7b")])
def test_an_ollama_model_name_is_normalised(written: str, recorded: str) -> None:
    assert OllamaDialect().canonical_model(written) == recorded


@pytest.mark.parametrize(("model", "elsewhere"), [("bge:cloud", True), ("bge:7b-cloud", True), ("cloud-bge", False)])
def test_an_ollama_cloud_model_counts_as_remote(model: str, elsewhere: bool) -> None:
    assert OllamaDialect().runs_remotely(model) is elsewhere
