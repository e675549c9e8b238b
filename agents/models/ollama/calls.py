"""One call to an Ollama model: a question as a chat request, in a window that holds it, and its response as a reply."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import httpx
import msgspec
import orjson
from msgspec import Struct

from agents.models.answers.summaries import estimated_tokens
from agents.models.calls.exchange import ChatTurn, ModelReply
from agents.models.ollama.context_window import fewest_tokens, window_for
from agents.models.ollama.errors import connection_error, of_status, too_large
from agents.models.ollama.models import runs_elsewhere, trouble
from agents.models.port import Usage
from agents.models.prompts.questions import Question
from schemas.addresses import is_loopback
from schemas.errors import Rejected, Retryable

# Ollama unloads an idle model after five minutes; slices of a quiet chat come less often.
KEEP_ALIVE_S: Final = 1_800
CONNECT_S: Final = 5.0

ChatMessage = dict[str, str]


class ReplyMessage(Struct, frozen=True):
    content: str = ""


class ChatAnswer(Struct, frozen=True, kw_only=True):
    """What Ollama answers. `prompt_eval_count` is all of the prompt, what was read from its cache included; 0 if not told."""

    model: str
    message: ReplyMessage
    done_reason: str = ""
    prompt_eval_count: int = 0
    prompt_eval_cached_count: int = 0
    eval_count: int = 0


class OllamaCalls:
    """Asks `model` of the server at `where` through `client`; whatever a call raises is memstream's error.

    `timeout_s` bounds one call, loading the model included. A window has at most `most_window_tokens`; one that was needed
    once is kept, as the model would be loaded anew for a smaller one too.
    """

    name = "ollama"
    larger_max_tokens = 4_096

    def __init__(
        self,
        client: httpx.AsyncClient,
        model: str,
        where: str,
        timeout_s: float,
        most_window_tokens: int,
    ) -> None:
        self.leaves_machine = not is_loopback(where) or runs_elsewhere(model)
        self._client = client
        self._model = model
        self._where = where
        self._timeout_s = timeout_s
        self._most_window_tokens = most_window_tokens
        self._window_tokens = 0

    async def trouble(self) -> str | None:
        """Whether the server is missing, or has not pulled the model."""
        return await trouble(self._client, self._model, self._where)

    def model(self, question: Question[Any]) -> str:
        return self._model

    async def call(self, question: Question[Any], turns: Sequence[ChatTurn], max_tokens: int) -> ModelReply:
        """Raises Retryable, Misconfigured, and Rejected for what is too large."""
        asked = [{"role": turn.role, "content": turn.text} for turn in turns]
        messages = [{"role": "system", "content": system(question)}, *asked]
        # Room for the largest answer from the start: the second call shall not load the model anew.
        estimated = sum(estimated_tokens(message["content"]) for message in messages)
        wanted = window_for(estimated, self.larger_max_tokens, self._most_window_tokens)
        # A local: while this call waits, another one may widen the window.
        window = self._window_tokens = max(self._window_tokens, wanted)
        try:
            return await self._read_whole(question, messages, max_tokens, window)
        except Rejected as rejected:
            if rejected.reason != "too_large" or window >= self._most_window_tokens:
                raise
        # Digits and rare scripts have more tokens than estimated.
        window = self._window_tokens = self._most_window_tokens
        return await self._read_whole(question, messages, max_tokens, window)

    def fixed(self, question: Question[Any]) -> tuple[str, ...]:
        return (system(question),)

    async def _read_whole(
        self, question: Question[Any], messages: list[ChatMessage], max_tokens: int, window: int
    ) -> ModelReply:
        """An answer to all of the messages. Raises Rejected when the server shortened them."""
        answer = await self._post(self._body(question, messages, max_tokens, window))
        read = answer.prompt_eval_count
        least = sum(fewest_tokens(message["content"]) for message in messages)
        if read >= window or 0 < read < least:
            raise too_large(f"it read {read} tokens of at least {least}, its window has {window}")
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
            # By default a prompt that does not fit is shortened, and pushed out by a long answer, without a word.
            # Before 0.12.6 these two are ignored: what was read is compared with what was sent.
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
            raise of_status(response.status_code, response.content, self._model, self._where)
        try:
            return msgspec.json.decode(response.content, type=ChatAnswer)
        except (msgspec.DecodeError, UnicodeDecodeError) as exc:
            raise Retryable(f"what {self._where} answered is no chat response", str(exc)) from exc


def system(question: Question[Any]) -> str:
    """Ollama holds the sampling to a schema but tells the model nothing of it; some models it does not even hold to it."""
    schema = orjson.dumps(question.schema).decode()
    return f"{question.stable}\n{question.policy}\nThe answer is one JSON object of this schema: {schema}"


def model_reply(answer: ChatAnswer) -> ModelReply:
    return ModelReply(
        text=answer.message.content,
        broke_off=answer.done_reason == "length",
        model=answer.model,
        usage=usage_of(answer),
        counted=answer.prompt_eval_count > 0,
    )


def usage_of(answer: ChatAnswer) -> Usage:
    cached = min(answer.prompt_eval_cached_count, answer.prompt_eval_count)
    return Usage(
        input_tokens=answer.prompt_eval_count - cached, output_tokens=answer.eval_count, cache_read_tokens=cached
    )
