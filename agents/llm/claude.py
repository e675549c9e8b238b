"""The Claude provider: one structured-output call for a slice, with one repair, through the Anthropic SDK."""

import asyncio

import anthropic
from anthropic.types import Message, MessageParam

from agents.llm.answers import check
from agents.llm.claude_errors import translated
from agents.llm.port import Answer, Context, Usage
from agents.llm.prompts import STABLE, answer_schema, data_part, policy_part
from agents.llm.replies import Reply, read_reply
from schemas.errors import Misconfigured, Rejected, Retryable
from schemas.requests import ExtractionRequest

MAX_TOKENS = 2_048
# An answer that did not fit gets this many, once.
LARGER_MAX_TOKENS = 8_192
REPAIR = (
    "That was not the JSON asked for. Answer again: one object with the list `memories`, nothing before or after it."
)


class ClaudeProvider:
    """Asks a Claude model. Retries with backoff are the SDK's: it honours `retry-after`; `timeout_s` is one attempt's.

    Without `base_url` or `api_key` the SDK looks for ANTHROPIC_BASE_URL and its credentials itself.
    A `client` given from outside is used as it is and stays the caller's to close.
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
    ) -> None:
        self._model = model
        self._owned = client is None
        self._client = client or anthropic.AsyncAnthropic(
            api_key=api_key, base_url=base_url, timeout=timeout_s, max_retries=max_retries
        )
        # The SDK waits as long as `retry-after` says, be it an hour; the request must not be held that long.
        self._patience_s = timeout_s * (max_retries + 1)

    def __repr__(self) -> str:
        return f"ClaudeProvider(model={self._model!r})"

    async def extract(self, request: ExtractionRequest, context: Context) -> Answer:
        """Raises as the port says; `unreadable` and `truncated` are reasons of Rejected after the second attempt."""
        if not await self.available():
            raise Misconfigured("no credentials for Claude: set ANTHROPIC_API_KEY, or choose the provider `offline`")
        asked: list[MessageParam] = [{"role": "user", "content": data_part(request, context)}]
        message = await self._ask(asked, context, MAX_TOKENS)
        usage = billed(message)
        reply = read_reply(text_of(message))
        if message.stop_reason == "max_tokens":
            message = await self._ask(asked, context, LARGER_MAX_TOKENS)
            usage, reply = total(usage, billed(message)), unbroken(message)
        elif not reply.whole:
            message = await self._ask(repairing(asked, message), context, LARGER_MAX_TOKENS)
            usage, reply = total(usage, billed(message)), readable(message, reply)
        checked = check(reply.drafts, request, context)
        rejected = checked.rejected if reply.whole else {**checked.rejected, "unreadable": 1}
        return Answer(
            provider=self.name, model=message.model, proposals=checked.proposals, usage=usage, rejected=rejected
        )

    async def available(self) -> bool:
        """Whether there are credentials; asking the API would cost a call."""
        client = self._client
        return bool(client.api_key or client.auth_token or client.credentials)

    async def close(self) -> None:
        """Closes the client's connections, if this provider made the client."""
        if self._owned:
            await self._client.close()

    async def _ask(self, asked: list[MessageParam], context: Context, max_tokens: int) -> Message:
        try:
            async with asyncio.timeout(self._patience_s):
                message = await self._client.messages.create(
                    model=self._model,
                    max_tokens=max_tokens,
                    system=[
                        {"type": "text", "text": STABLE, "cache_control": {"type": "ephemeral"}},
                        {"type": "text", "text": policy_part(context.policy)},
                    ],
                    messages=asked,
                    output_config={"format": {"type": "json_schema", "schema": answer_schema(context.policy)}},
                )
        except TimeoutError as exc:
            raise Retryable(f"Claude did not answer within {self._patience_s:g} s, retries included") from exc
        except anthropic.AnthropicError as exc:
            raise translated(exc, self._model) from exc
        return accepted(message)


def accepted(message: Message) -> Message:
    """Raises Rejected for what no repetition changes."""
    if message.stop_reason == "refusal":
        raise Rejected("refused", "the model declined to read this slice")
    if message.stop_reason == "model_context_window_exceeded":
        raise Rejected(
            "too_large", "the slice does not fit the model's context window: lower the policy's slice_tokens"
        )
    return message


def unbroken(message: Message) -> Reply:
    if message.stop_reason == "max_tokens":
        raise Rejected(
            "truncated", f"the answer has more than {LARGER_MAX_TOKENS} tokens: lower the policy's slice_tokens"
        )
    return readable(message, Reply((), whole=False))


def readable(message: Message, earlier: Reply) -> Reply:
    """The later reply if it is whole, else whichever has drafts; with none an empty list would be a silent loss."""
    reply = read_reply(text_of(message))
    if reply.whole:
        return reply
    best = max(reply, earlier, key=lambda each: len(each.drafts))
    if not best.drafts:
        raise Rejected("unreadable", "the model answered twice without the JSON asked for")
    return best


def repairing(asked: list[MessageParam], message: Message) -> list[MessageParam]:
    # The API takes no empty content: an empty answer is shown as such.
    said = text_of(message).strip() or "(empty)"
    return [*asked, {"role": "assistant", "content": said}, {"role": "user", "content": REPAIR}]


def text_of(message: Message) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def billed(message: Message) -> Usage:
    """The API's `input_tokens` already excludes what its cache read and wrote."""
    used = message.usage
    return Usage(
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cache_read_tokens=used.cache_read_input_tokens or 0,
        cache_write_tokens=used.cache_creation_input_tokens or 0,
    )


def total(first: Usage, second: Usage) -> Usage:
    return Usage(
        input_tokens=first.input_tokens + second.input_tokens,
        output_tokens=first.output_tokens + second.output_tokens,
        cache_read_tokens=first.cache_read_tokens + second.cache_read_tokens,
        cache_write_tokens=first.cache_write_tokens + second.cache_write_tokens,
    )
