"""The Claude provider: one structured-output call for a slice, with one repair, through the Anthropic SDK."""

from collections.abc import Sequence

import anthropic

from agents.llm.answers import check
from agents.llm.claude_calls import ClaudeCalls, Question
from agents.llm.metering import Meter
from agents.llm.port import Answer, Context, Summary
from agents.llm.prompts import STABLE, answer_schema, data_part, policy_part
from agents.llm.replies import Reply, read_reply, read_summary
from agents.llm.summaries import estimated_tokens, fitted
from agents.llm.summary_prompt import SUMMARISE, SUMMARY_SCHEMA, length_part, summary_data
from schemas.errors import Misconfigured, Rejected
from schemas.policies import Policy
from schemas.requests import ExtractionRequest
from streams.windows.tokens import TokenCount

NOT_THE_JSON = "That was not the JSON asked for. Answer again: one object with "
REPAIR = f"{NOT_THE_JSON}the list `memories`, nothing before or after it."
REPAIR_SUMMARY = f"{NOT_THE_JSON}the string `summary`, nothing before or after it."


class ClaudeProvider:
    """Asks a Claude model. Retries with backoff are the SDK's: it honours `retry-after`; `timeout_s` is one attempt's.

    Without `base_url` or `api_key` the SDK looks for ANTHROPIC_BASE_URL and its credentials itself.
    A `client` given from outside is used as it is and stays the caller's to close. With `count_tokens` answers say what their
    calls sent; without it they do not, and tokens of summaries are estimated.
    """

    name = "claude"

    def __init__(
        self,
        model: str,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout_s: float = 30.0,
        max_retries: int = 2,
        client: anthropic.AsyncAnthropic | None = None,
        count_tokens: TokenCount | None = None,
    ) -> None:
        self._model = model
        self._owned = client is None
        self._client = client or anthropic.AsyncAnthropic(
            api_key=api_key, base_url=base_url, timeout=timeout_s, max_retries=max_retries
        )
        meter = Meter(count_tokens) if count_tokens else None
        self._calls = ClaudeCalls(self._client, model, timeout_s * (max_retries + 1), meter)
        self._count_tokens = count_tokens or estimated_tokens

    def __repr__(self) -> str:
        return f"ClaudeProvider(model={self._model!r})"

    async def extract(self, request: ExtractionRequest, context: Context) -> Answer:
        """Raises as the port says; `unreadable` and `truncated` are reasons of Rejected after the second attempt."""
        await self._require_credentials()
        exchange = await self._calls.exchange(extraction(request, context), lambda text: read_reply(text).whole)
        reply = best(exchange.texts)
        checked = check(reply.drafts, request, context)
        return Answer(
            provider=self.name,
            model=exchange.model,
            proposals=checked.proposals,
            usage=exchange.usage,
            rejected=checked.rejected if reply.whole else {**checked.rejected, "unreadable": 1},
            calls=exchange.calls,
        )

    async def summarise(self, request: ExtractionRequest, policy: Policy) -> Summary:
        """Raises as `extract` does. A summary of which nothing may be kept leaves what was said before."""
        await self._require_credentials()
        exchange = await self._calls.exchange(summing_up(request, policy), lambda text: read_summary(text) is not None)
        told = read_summary(exchange.texts[-1])
        if told is None:
            raise unreadable()
        most = policy.window.summary_tokens
        text = fitted(told, most, self._count_tokens) or fitted(request.summary, most, self._count_tokens)
        return Summary(provider=self.name, model=exchange.model, text=text, usage=exchange.usage, calls=exchange.calls)

    async def available(self) -> bool:
        """Whether there are credentials; asking the API would cost a call."""
        client = self._client
        return bool(client.api_key or client.auth_token or client.credentials)

    async def close(self) -> None:
        """Closes the client's connections, if this provider made the client."""
        if self._owned:
            await self._client.close()

    async def _require_credentials(self) -> None:
        if not await self.available():
            raise Misconfigured("no credentials for Claude: set ANTHROPIC_API_KEY, or choose the provider `offline`")


def extraction(request: ExtractionRequest, context: Context) -> Question:
    return Question(
        system=(
            {"type": "text", "text": STABLE, "cache_control": {"type": "ephemeral"}},
            {"type": "text", "text": policy_part(context.policy)},
        ),
        asked=data_part(request, context),
        schema=answer_schema(context.policy),
        repair=REPAIR,
    )


def summing_up(request: ExtractionRequest, policy: Policy) -> Question:
    return Question(
        # Too short for the API's cache, which begins at a thousand tokens.
        system=({"type": "text", "text": SUMMARISE}, {"type": "text", "text": length_part(policy)}),
        asked=summary_data(request),
        schema=SUMMARY_SCHEMA,
        repair=REPAIR_SUMMARY,
    )


def best(texts: Sequence[str]) -> Reply:
    """The last reply if it is whole, else whichever has most drafts; with none an empty list would be a silent loss."""
    replies = [read_reply(text) for text in reversed(texts)]
    if replies[0].whole:
        return replies[0]
    found = max(replies, key=lambda each: len(each.drafts))
    if not found.drafts:
        raise unreadable()
    return found


def unreadable() -> Rejected:
    return Rejected("unreadable", "the model answered twice without the JSON asked for")
