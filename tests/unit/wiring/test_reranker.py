"""Configuration of the reranker by settings."""

from contextlib import nullcontext
from typing import Any

import pytest

from agents.retrieval.reranking import RerankedSearch
from deploy.settings import Settings, load
from deploy.wiring import rerankers
from schemas.errors import Misconfigured
from schemas.passages.passages import Passage
from schemas.policies.policies import Policies, Policy
from schemas.retrieval.searches import Query, SaidHit
from tests.servers.reranker import MODEL, RerankServer
from tests.unit.retrieval.test_reranking import NOON, Searched, texts

WARD = Policies((Policy(name="open"), Policy(name="ward", local_only=True)))
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
    searched: Any = Searched()
    pool: Any = None
    async with rerankers.reranked(settings(), pool, Policies(), searched) as searching:
        assert searching is searched


async def test_a_configured_reranker_endpoint_is_called_in_its_protocol() -> None:
    searched = Searched(passage("We had soup."), passage("The night train."))
    pool: Any = None
    async with RerankServer() as server:
        chosen = settings(**COHERE, reranker_base_url=server.url)
        async with rerankers.reranked(chosen, pool, Policies(), searched) as searching:
            assert isinstance(searching, RerankedSearch)
            found = await searching.search(Query(namespaces=("n",), text="night train"))
    assert (texts(found)[0], found.mixed[0].reranked) == ("The night train.", 1.0)


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
