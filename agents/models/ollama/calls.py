"""One call to an Ollama model: a question as a chat request with a large enough context, and the response as a reply."""

import asyncio
import re
from collections.abc import Sequence
from typing import Any, Final

import httpx
import msgspec
import orjson
from msgspec import Struct

from agents.models.answers.summaries import estimated_tokens
from agents.models.calls.exchange import ChatTurn, ModelReply
from agents.models.ollama.errors import connection_error, status_error, too_large
from agents.models.ollama.models import is_cloud_model, unavailable_reason
from agents.models.port import Usage
from agents.models.prompts.questions import Question
from schemas.addresses import is_loopback
from schemas.errors import Rejected, Retryable

# By default Ollama unloads an idle model after five minutes; a quiet chat has longer pauses between slices.
KEEP_ALIVE_S: Final = 1_800
CONNECT_S: Final = 5.0
# A change of the context size reloads the model (seconds to minutes), so there are few sizes.
CONTEXT_STEP: Final = 4_096
# A token has at most one word, as vocabularies separate words and punctuation; in Chinese, Japanese and Korean
# it has three characters on average.
LEAST_TOKEN: Final = re.compile("[A-Za-z'\u00c0-\u024f\u0370-\u052f]+|[\u0590-\u1fff]+|[\u3040-\ud7a3]{3}")

ChatMessage = dict[str, str]


class ReplyMessage(Struct, frozen=True):
    content: str = ""


class ChatAnswer(Struct, frozen=True, kw_only=True):
    """Ollama's answer. `prompt_eval_count` is the whole prompt, cached tokens included; 0 if it is missing."""

    model: str
    message: ReplyMessage
    done_reason: str = ""
    prompt_eval_count: int = 0
    prompt_eval_cached_count: int = 0
    eval_count: int = 0


class OllamaCalls:
    """Calls `model` on the server at `where` through `client`; all errors are memstream's.

    `timeout_s` bounds a call, loading the model included. The context has at most `max_window_tokens`; it never shrinks, as
    the model would be reloaded for a smaller one too.
    """

    name = "ollama"
    max_reply_tokens = 4_096

    def __init__(
        self,
        client: httpx.AsyncClient,
        model: str,
        where: str,
        timeout_s: float,
        max_window_tokens: int,
    ) -> None:
        self.leaves_machine = not is_loopback(where) or is_cloud_model(model)
        self._client = client
        self._model = model
        self._where = where
        self._timeout_s = timeout_s
        self._max_window_tokens = max_window_tokens
        self._window_tokens = 0

    async def unavailable_reason(self) -> str | None:
        """Reports an unreachable server, or a model that was not pulled."""
        return await unavailable_reason(self._client, self._model, self._where)

    def model(self, question: Question[Any]) -> str:
        return self._model

    async def call(self, question: Question[Any], turns: Sequence[ChatTurn], max_tokens: int) -> ModelReply:
        """Raises Retryable, Misconfigured, and Rejected for a prompt that is too large."""
        chat_messages = [{"role": turn.role, "content": turn.text} for turn in turns]
        messages = [{"role": "system", "content": system(question)}, *chat_messages]
        # Always reserves the largest answer: a second call must not reload the model.
        estimated = sum(estimated_tokens(message["content"]) for message in messages)
        window_tokens = window_for(estimated, self.max_reply_tokens, self._max_window_tokens)
        # A copy: while this call waits, another one may enlarge the window.
        window = self._window_tokens = max(self._window_tokens, window_tokens)
        try:
            return await self._read_whole(question, messages, max_tokens, window)
        except Rejected as rejected:
            if rejected.reason != "too_large" or window >= self._max_window_tokens:
                raise
        # Digits and rare scripts may have more tokens than estimated.
        window = self._window_tokens = self._max_window_tokens
        return await self._read_whole(question, messages, max_tokens, window)

    def fixed_texts(self, question: Question[Any]) -> tuple[str, ...]:
        return (system(question),)

    async def _read_whole(
        self, question: Question[Any], messages: list[ChatMessage], max_tokens: int, window: int
    ) -> ModelReply:
        """Calls the model with all messages. Raises Rejected if the server truncated them."""
        answer = await self._post(self._body(question, messages, max_tokens, window))
        read = answer.prompt_eval_count
        least = sum(min_tokens(message["content"]) for message in messages)
        if read >= window or 0 < read < least:
            raise too_large(f"Ollama read {read} of at least {least} tokens, its context has {window}")
        return model_reply(answer)

    def _body(
        self, question: Question[Any], messages: list[ChatMessage], max_tokens: int, window: int
    ) -> dict[str, object]:
        return {
            "model": self._model,
            "messages": messages,
            "stream": False,
            "format": question.schema,
            "think": False,
            # By default Ollama silently truncates a prompt that does not fit, and shifts it out during a long answer.
            # Versions before 0.12.6 ignore these two options: therefore the tokens read are compared with those sent.
            "truncate": False,
            "shift": False,
            "keep_alive": KEEP_ALIVE_S,
            "options": {"num_ctx": window, "num_predict": max_tokens, "temperature": 0},
        }

    async def _post(self, body: dict[str, object]) -> ChatAnswer:
        try:
            async with asyncio.timeout(self._timeout_s):
                response = await self._client.post("/api/chat", json=body)
        except (TimeoutError, httpx.ReadTimeout) as exc:
            raise Retryable(f"Ollama did not answer within {self._timeout_s:g} s, loading the model included") from exc
        except httpx.HTTPError as exc:
            raise connection_error(exc, self._where) from exc
        if response.status_code != 200:
            raise status_error(response.status_code, response.content, self._model, self._where)
        try:
            return msgspec.json.decode(response.content, type=ChatAnswer)
        except (msgspec.DecodeError, UnicodeDecodeError) as exc:
            raise Retryable(f"the response from {self._where} is not a chat response", str(exc)) from exc


def system(question: Question[Any]) -> str:
    """The system prompt with the schema: Ollama constrains sampling to a schema without showing it to the model, and ignores
    it for some models."""
    schema = orjson.dumps(question.schema).decode()
    return f"{question.stable}\n{question.policy}\nThe answer is one JSON object of this schema: {schema}"


def model_reply(answer: ChatAnswer) -> ModelReply:
    return ModelReply(
        text=answer.message.content,
        truncated=answer.done_reason == "length",
        model=answer.model,
        usage=usage_of(answer),
        counted=answer.prompt_eval_count > 0,
    )


def usage_of(answer: ChatAnswer) -> Usage:
    cached = min(answer.prompt_eval_cached_count, answer.prompt_eval_count)
    return Usage(
        input_tokens=answer.prompt_eval_count - cached, output_tokens=answer.eval_count, cache_read_tokens=cached
    )


def window_for(prompt_tokens: int, answer_tokens: int, largest: int) -> int:
    """The context size in tokens for a prompt and its answer: a multiple of CONTEXT_STEP, or `largest` if that is less."""
    return min(largest, CONTEXT_STEP * -(-(prompt_tokens + answer_tokens) // CONTEXT_STEP))


def min_tokens(text: str) -> int:
    """A lower bound of a text's tokens in any model: 0.4 to 0.6 of the count of cl100k and o200k for English prompts, 0.2 to
    0.3 for Chinese."""
    return sum(1 for _ in LEAST_TOKEN.finditer(text))
