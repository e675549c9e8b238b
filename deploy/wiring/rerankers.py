"""The reranker as the settings have it."""

import os
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from importlib import import_module

from agents.models.reranking import ModelReranker
from agents.policies.reader import policies_from
from agents.retrieval.reranking import RerankedSearch, Reranker, Searching
from deploy.settings import Settings
from deploy.wiring import budgets
from deploy.wiring.connections import policy_topic
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
    settings: Settings, pool: Pool, policies: PolicySelector, searching: Searching
) -> AsyncIterator[Searching]:
    """The search, with the reranker behind it that the settings name, if any. Raises Misconfigured."""
    if settings.reranker == "off":
        yield searching
        return
    open_one = claude if settings.reranker == "claude" else endpoint
    async with open_one(settings, pool, policies) as reranker:
        yield RerankedSearch(
            searching,
            reranker,
            policies,
            candidates=settings.reranker_candidates,
            within_s=settings.reranker_within_s,
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
    """Within the budgets, as everything that Claude is asked."""
    model = settings.reranker_model or settings.claude_model
    energy = budgets.energy(settings, [("claude", model)], Ledger(pool), settings.policies(), lambda: datetime.now(UTC))
    provider = import_module("deploy.wiring.claude").reranking_claude(settings, model, energy)
    try:
        yield ModelReranker(provider, policies)
    finally:
        await provider.close()
        await energy.close()


async def probed(settings: Settings) -> str:
    """What answers. Claude is not asked, as that costs a call. Raises Retryable, Misconfigured, Rejected."""
    if settings.reranker == "off":
        return "off"
    model = settings.reranker_model or ""
    if settings.reranker == "claude":
        provider = import_module("deploy.wiring.claude").reranking_claude(
            settings, model or settings.claude_model, None
        )
        trouble = await provider.trouble()
        await provider.close()
        if trouble:
            raise Misconfigured(trouble)
    else:
        async with remote(settings) as reranker:
            await reranker.scores("Who is there?", ["Somebody is there.", "Nobody."], ())
    return f"{settings.reranker} {model}".strip()


def refuse_if_texts_must_stay(settings: Settings, policies: Policies) -> None:
    """One reranker serves all policies: if one policy forbids to send texts, all do. Raises Misconfigured."""
    staying = next((policy.name for policy in policies.listed if policy.local_only), None)
    if staying is not None and reranks_elsewhere(settings):
        raise Misconfigured(
            f"the policy {staying!r} is local_only, and MEMSTREAM_RERANKER={settings.reranker} sends texts from this machine: "
            "choose MEMSTREAM_RERANKER=off, or an endpoint on this machine"
        )


async def refuse_by_topic(settings: Settings) -> None:
    """The same by the policies that were put on their topic, for commands, which do not follow it. Raises Retryable as well."""
    if reranks_elsewhere(settings):
        async with policy_topic(settings) as topic:
            refuse_if_texts_must_stay(settings, policies_from(await topic.to_end()))


def reranks_elsewhere(settings: Settings) -> bool:
    if settings.reranker == "off":
        return False
    if settings.reranker == "claude":
        named = settings.anthropic_base_url or os.environ.get("ANTHROPIC_BASE_URL") or CLAUDE_URL
        return not is_loopback(named)
    return not is_loopback(settings.reranker_base_url or DIALECTS[settings.reranker].base_url or "")
