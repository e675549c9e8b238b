"""Builds the configured reranker."""

import os
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from importlib import import_module

from agents.models.local_only import refuse_local_only
from agents.models.reranking import ModelReranker
from agents.retrieval.ports import SearchService
from agents.retrieval.reranking import RerankedSearch, Reranker
from deploy.settings import Settings
from deploy.wiring import budgets
from deploy.wiring.clock import now
from schemas.addresses import is_loopback
from schemas.errors import Misconfigured
from schemas.policies.policies import Policies, PolicySelector
from sinks.budgets.ledger import Ledger
from sinks.postgres.connection import Pool
from sinks.reranking.dialects import DIALECTS
from sinks.reranking.endpoint import RemoteReranker

CLAUDE_URL = "https://api.anthropic.com"


@asynccontextmanager
async def reranked(
    settings: Settings, pool: Pool, policies: PolicySelector, search_service: SearchService
) -> AsyncIterator[SearchService]:
    """Wraps the search with the configured reranker, if any. Raises Misconfigured."""
    if settings.reranker == "off":
        yield search_service
        return
    open_one = claude if settings.reranker == "claude" else endpoint
    async with open_one(settings, pool, policies) as reranker:
        yield RerankedSearch(
            search_service,
            reranker,
            policies,
            candidates=settings.reranker_candidates,
            timeout_s=settings.reranker_within_s,
        )


@asynccontextmanager
async def endpoint(settings: Settings, pool: Pool, policies: PolicySelector) -> AsyncIterator[Reranker]:
    async with remote(settings) as reranker:
        yield reranker


@asynccontextmanager
async def remote(settings: Settings) -> AsyncIterator[RemoteReranker]:
    dialect = DIALECTS[settings.reranker]
    key = settings.reranker_api_key.get_secret_value() if settings.reranker_api_key else None
    base_url = settings.reranker_base_url or dialect.base_url or ""
    made = RemoteReranker(dialect, base_url, settings.reranker_model, key, timeout_s=settings.reranker_within_s)
    async with aclosing(made) as reranker:
        yield reranker


@asynccontextmanager
async def claude(settings: Settings, pool: Pool, policies: PolicySelector) -> AsyncIterator[Reranker]:
    """Claude as a reranker, within the budgets."""
    model = settings.reranker_model or settings.claude_model
    guard = budgets.budget_guard(settings, [("claude", model)], Ledger(pool), settings.policies(), now)
    provider = import_module("deploy.wiring.claude").reranking_claude(settings, model, guard)
    reranker = ModelReranker(provider, policies)
    try:
        yield reranker
    finally:
        await reranker.close()
        await provider.close()
        await guard.close()


async def probe(settings: Settings) -> str:
    """Probes the reranker; not Claude, as a call costs money. Raises Retryable, Misconfigured, Rejected."""
    if settings.reranker == "off":
        return "off"
    model = settings.reranker_model or ""
    if settings.reranker == "claude":
        provider = import_module("deploy.wiring.claude").reranking_claude(
            settings, model or settings.claude_model, None
        )
        trouble = await provider.unavailable_reason()
        await provider.close()
        if trouble:
            raise Misconfigured(trouble)
    else:
        async with remote(settings) as reranker:
            await reranker.scores("Is the reranker available?", ["The reranker is available.", "Nobody."], ())
    return f"{settings.reranker} {model}".strip()


def check_local_only(settings: Settings, policies: Policies) -> None:
    """Raises Misconfigured if any policy forbids to send texts and the reranker would: one reranker serves all policies."""
    if reranks_remotely(settings):
        remedy = "choose MEMSTREAM_RERANKER=off, or an endpoint on this machine"
        refuse_local_only(policies, f"MEMSTREAM_RERANKER={settings.reranker}", remedy)


def reranks_remotely(settings: Settings) -> bool:
    if settings.reranker == "off":
        return False
    if settings.reranker == "claude":
        named = settings.anthropic_base_url or os.environ.get("ANTHROPIC_BASE_URL") or CLAUDE_URL
        return not is_loopback(named)
    return not is_loopback(settings.reranker_base_url or DIALECTS[settings.reranker].base_url or "")
