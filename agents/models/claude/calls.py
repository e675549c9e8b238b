"""One call to a Claude model: a question as a request of the Messages API, and its response as a reply."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import anthropic
import msgspec
from anthropic.types import Message, MessageParam, TextBlock, TextBlockParam
from anthropic.types import Usage as BilledUsage
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

from agents.models.billing import Bill
from agents.models.calls.exchange import ChatTurn, ModelReply, ReplyRefused
from agents.models.claude.errors import translated
from agents.models.claude.rate_limits import allowances
from agents.models.port import Usage
from agents.models.prompts.questions import Question
from agents.privacy.scrub import scrub
from schemas.addresses import is_loopback
from schemas.errors import Misconfigured, Retryable

# Of a response that is no message: enough to see what answered instead.
DETAIL_CHARS = 300


class ClaudeCalls:
    """Asks `model` through `client`, and `compaction_model`, if there is one, for compaction.

    Whatever a call raises is memstream's error. `patience_s` bounds one, retries included.
    """

    name = "claude"
    larger_max_tokens = 8_192

    def __init__(
        self,
        client: anthropic.AsyncAnthropic,
        model: str,
        patience_s: float,
        compaction_model: str | None = None,
    ) -> None:
        self.leaves_machine = not is_loopback(str(client.base_url))
        self._client = client
        self._model = model
        self._compaction_model = compaction_model or model
        # The SDK waits as long as `retry-after` says, be it an hour; the request must not be held that long.
        self._patience_s = patience_s

    async def trouble(self) -> str | None:
        """Whether there are no credentials; asking the API would cost a call."""
        if has_credentials(self._client):
            return None
        return "no credentials for Claude: set MEMSTREAM_ANTHROPIC_API_KEY, or choose another MEMSTREAM_PROVIDER"

    def model(self, question: Question[Any]) -> str:
        return self._compaction_model if question.purpose == "compact" else self._model

    async def call(self, question: Question[Any], turns: Sequence[ChatTurn], max_tokens: int) -> ModelReply:
        if trouble := await self.trouble():
            raise Misconfigured(trouble)
        model = self.model(question)
        asked = self._client.messages.with_raw_response
        try:
            async with asyncio.timeout(self._patience_s):
                response = await asked.create(**params(question, turns, model, max_tokens))
                message = await response.parse()
        except TimeoutError as exc:
            raise Retryable(f"Claude did not answer within {self._patience_s:g} s, retries included") from exc
        except anthropic.AnthropicError as exc:
            raise translated(exc, model) from exc
        except ValueError as exc:
            # The SDK lets this through: something between has cut the answer short.
            raise Retryable(f"Claude's answer was no JSON: {exc}") from exc
        told = allowances(response.headers)
        return msgspec.structs.replace(model_reply(message), request_id=response.request_id, allowances=told)

    def fixed(self, question: Question[Any]) -> tuple[str, ...]:
        """The schema among them: the model is told it, so that it is billed.

        It is written with spaces, as the bills of recorded requests, most with tools, are told best so: 1.10 to 1.20
        tokens for each counted one (the middle 80 % of 158 requests), 1.17 to 1.32 without spaces.
        """
        return (*(block["text"] for block in system(question)), json.dumps(question.schema))


def has_credentials(client: anthropic.AsyncAnthropic) -> bool:
    return bool(client.api_key or client.auth_token or client.credentials)


def params(
    question: Question[Any], turns: Sequence[ChatTurn], model: str, max_tokens: int
) -> MessageCreateParamsNonStreaming:
    """What the API is sent, alone or as one of a batch."""
    return {
        "model": model,
        "max_tokens": max_tokens,
        "system": system(question),
        "messages": [message_param(turn) for turn in turns],
        # It would be billed as output and count against `max_tokens`; newer models do it unless told not to.
        "thinking": {"type": "disabled"},
        "output_config": {"format": {"type": "json_schema", "schema": question.schema}},
    }


def message_param(turn: ChatTurn) -> MessageParam:
    if turn.role == "user":
        return {"role": "user", "content": turn.text}
    return {"role": "assistant", "content": turn.text}


def system(question: Question[Any]) -> tuple[TextBlockParam, ...]:
    """Cached to its end, policy included: another policy has another schema, and misses the cache anyway.

    What is asked seldom is not marked: an entry that nobody reads within five minutes costs a quarter more than none. A part
    that is below the model's least size is not cached, mark or no mark.
    """
    policy: TextBlockParam = {"type": "text", "text": question.policy}
    if question.purpose in ("extract", "summarise"):
        policy["cache_control"] = {"type": "ephemeral"}
    return ({"type": "text", "text": question.stable}, policy)


def model_reply(response: Message) -> ModelReply:
    """Raises Rejected for what no repetition changes, and Retryable for what is no message."""
    message = message_of(response)
    bill = Bill(model=message.model, usage=billed(message))
    if message.stop_reason == "refusal":
        raise ReplyRefused("refused", "the model declined to read this slice", bill)
    if message.stop_reason == "model_context_window_exceeded":
        too_large = "the slice does not fit the model's context window: lower the policy's slice_tokens"
        raise ReplyRefused("too_large", too_large, bill)
    text = "".join(block.text for block in message.content if block.type == "text")
    return ModelReply(text=text, broke_off=message.stop_reason == "max_tokens", model=bill.model, usage=bill.usage)


def message_of(response: object) -> Message:
    """The response with all of it that memstream reads. The SDK takes any JSON for a message, and returns other text as it is.

    Raises Retryable: something between answered in the API's stead.

    Blocks and reasons to stop that are not known yet are let pass.
    """
    if not isinstance(response, Message) or not (is_billed(response) and is_read(response)):
        raise Retryable("what came from Claude's address is no message", scrub(repr(response)).text[:DETAIL_CHARS])
    return response


def is_billed(message: Message) -> bool:
    used = message.usage
    return isinstance(used, BilledUsage) and isinstance(used.input_tokens, int) and isinstance(used.output_tokens, int)


def is_read(message: Message) -> bool:
    texts = [block for block in message.content or () if isinstance(block, TextBlock) and block.type == "text"]
    return (
        isinstance(message.model, str)
        and isinstance(message.content, list)
        and all(isinstance(block.text, str) for block in texts)
    )


def billed(message: Message) -> Usage:
    """The API's `input_tokens` already excludes what its cache read and wrote."""
    used = message.usage
    return Usage(
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cache_read_tokens=used.cache_read_input_tokens or 0,
        cache_write_tokens=used.cache_creation_input_tokens or 0,
        batched=used.service_tier == "batch",
    )
