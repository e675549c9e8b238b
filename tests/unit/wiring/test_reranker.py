"""Configuration of the reranker by settings."""

from contextlib import nullcontext
from datetime import UTC, datetime
from typing import Any

import pytest

from agents.models.reranking import ModelReranker
from agents.retrieval.ports import SearchService
from agents.retrieval.reranking import RerankedSearch
from deploy.settings import Settings, load
from deploy.wiring import rerankers
from deploy.wiring.claude import reranking_claude
from schemas.errors import Misconfigured
from schemas.passages.passages import Passage
from schemas.policies.policies import Policies, Policy
from schemas.retrieval.searches import Query, SaidHit
from sinks.reranking.dialects import DIALECTS
from tests.fakes.search import FakeMixedSearch, texts
from tests.servers.messages import KEY as CLAUDE_KEY
from tests.servers.messages import MessagesServer
from tests.servers.reranker import MODEL, RerankServer

WARD = Policies((Policy(name="open"), Policy(name="ward", local_only=True)))
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
COHERE = {"reranker": "cohere", "reranker_model": MODEL}


def settings(**given: Any) -> Settings:
    return load(_env_file=None, **given)


def passage(text: str) -> SaidHit:
    return SaidHit(
        score=1.0,
        owners=("n",),
        passage=Passage(
            passage_id=text,
            namespace="n",
            conversation_id="c",
            message_id=text,
            role="user",
            speaker="ada",
            said_at=NOON,
            text=text,
        ),
    )


async def test_reranking_is_off_by_default() -> None:
    searched: Any = FakeMixedSearch()
    pool: Any = None
    async with rerankers.reranked(settings(), pool, Policies(), searched) as searching:
        assert searching is searched


async def test_a_configured_reranker_endpoint_is_called_in_its_protocol() -> None:
    searched = FakeMixedSearch(passage("We had soup."), passage("The night train."))
    pool: Any = None
    async with RerankServer() as server:
        chosen = settings(**COHERE, reranker_base_url=server.url)
        async with rerankers.reranked(chosen, pool, Policies(), searched) as searching:
            assert isinstance(searching, RerankedSearch)
            found = await searching.search(Query(namespaces=("n",), text="night train"))
    assert (texts(found)[0], found.mixed[0].reranked) == ("The night train.", 1.0)


NOT_ANSWERED = (["We had soup.", "The night train."], ("vectors_slow", "reranker_slow"))


async def asked_twice(searching: SearchService) -> list[tuple[list[str], tuple[str, ...]]]:
    found = [await searching.search(Query(namespaces=("n",), text="night train")) for _ in range(2)]
    return [(texts(each), each.degraded) for each in found]


@pytest.mark.parametrize("protocol", DIALECTS)
async def test_an_endpoint_that_does_not_answer_in_time_leaves_the_order_of_the_search(protocol: str) -> None:
    searched = FakeMixedSearch(passage("We had soup."), passage("The night train."))
    pool: Any = None
    async with RerankServer() as server:
        server.script("slow")
        late = {"reranker_base_url": server.url, "reranker_model": MODEL, "reranker_within_s": 0.1}
        async with rerankers.reranked(settings(reranker=protocol, **late), pool, Policies(), searched) as searching:
            assert await asked_twice(searching) == [NOT_ANSWERED] * 2
        assert len(server.seen) <= 1, "it is left alone for a while"


async def test_claude_that_does_not_answer_in_time_leaves_the_order_of_the_search() -> None:
    searched = FakeMixedSearch(passage("We had soup."), passage("The night train."))
    async with MessagesServer() as server:
        server.script("slow")
        key = {"anthropic_api_key": CLAUDE_KEY, "anthropic_base_url": server.url}
        provider = reranking_claude(settings(reranker="claude", reranker_within_s=5.0, **key), "claude-test-1", None)
        reranker = ModelReranker(provider, Policies())
        searching = RerankedSearch(searched, reranker, Policies(), candidates=10, timeout_s=0.1)
        assert await asked_twice(searching) == [NOT_ANSWERED] * 2
        await provider.close()
        assert len(server.seen) <= 1, "it is left alone for a while"


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"reranker": "tei"}, "MEMSTREAM_RERANKER_BASE_URL"),
        ({"reranker": "cohere"}, "MEMSTREAM_RERANKER_MODEL"),
        ({"reranker": "jina"}, "MEMSTREAM_RERANKER_MODEL"),
        ({"reranker": "voyage"}, "MEMSTREAM_RERANKER_MODEL"),
        ({"reranker": "other"}, "MEMSTREAM_RERANKER"),
    ],
)
def test_a_reranker_without_required_settings_raises_misconfigured(given: dict[str, str], missing: str) -> None:
    with pytest.raises(Misconfigured, match=missing):
        settings(**given)


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({}, False),
        (COHERE, True),
        (COHERE | {"reranker_base_url": "http://127.0.0.1:8080"}, False),
        ({"reranker": "tei", "reranker_base_url": "http://192.0.2.1"}, True),
        ({"reranker": "claude"}, True),
        ({"reranker": "claude", "anthropic_base_url": "http://127.0.0.1:9"}, False),
    ],
)
def test_a_remote_reranker_is_rejected_under_a_local_only_policy(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], refused: bool
) -> None:
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    chosen = settings(**given)
    rerankers.check_local_only(chosen, Policies((Policy(name="open"),)))
    with pytest.raises(Misconfigured, match="'ward' is local_only") if refused else nullcontext():
        rerankers.check_local_only(chosen, WARD)


async def test_the_doctor_reports_the_working_reranker_and_its_errors() -> None:
    assert await rerankers.probe(settings()) == "off"
    async with RerankServer() as server:
        chosen = settings(**COHERE, reranker_base_url=server.url)
        assert await rerankers.probe(chosen) == f"cohere {MODEL}"
        server.script("forbidden")
        with pytest.raises(Misconfigured, match="MEMSTREAM_RERANKER_API_KEY"):
            await rerankers.probe(chosen)
    claude = {"reranker": "claude", "anthropic_api_key": "EXAMPLE", "anthropic_base_url": "http://127.0.0.1:9"}
    assert await rerankers.probe(settings(**claude)) == "claude"
