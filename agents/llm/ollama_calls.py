"""A question to an Ollama model: one call, and a second one when the answer broke off or is not the JSON asked for."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final

import httpx
import msgspec
from msgspec import Struct

from agents.llm.claude_calls import Exchange, total
from agents.llm.metering import Meter
from agents.llm.ollama_errors import of_status, too_large, unreached
from agents.llm.ollama_window import fewest_tokens, window_for
from agents.llm.port import Call, Usage
from agents.llm.summaries import estimated_tokens
from schemas.errors import Rejected, Retryable

MAX_TOKENS: Final = 2_048
# An answer that did not fit gets this many, once.
LARGER_MAX_TOKENS: Final = 4_096
# Ollama unloads an idle model after five minutes; slices of a quiet chat come less often.
KEEP_ALIVE_S: Final = 1_800
CONNECT_S: Final = 5.0

ChatMessage = dict[str, str]


class Question(Struct, frozen=True, kw_only=True):
    """`system` is the same for many questions, the schema in it; `asked` is this one's data.

    `repair` is said to an answer that is not of the `schema`.
    """

    system: str
    asked: str
    schema: dict[str, Any]
    repair: str


class Said(Struct, frozen=True):
    content: str = ""


class ChatAnswer(Struct, frozen=True, kw_only=True):
    """What Ollama answers. `prompt_eval_count` is all of the prompt, what was read from its cache included; 0 if not told."""

    model: str
    message: Said
    done_reason: str = ""
    prompt_eval_count: int = 0
    prompt_eval_cached_count: int = 0
    eval_count: int = 0

    @property
    def broke_off(self) -> bool:
        return self.done_reason == "length"


class OllamaCalls:
    """Asks `model` of the server at `where` through `client`; whatever a call raises is memstream's error.

    `timeout_s` bounds one call, loading the model included. A window has at most `most_window_tokens`; one that was needed
    once is kept, as the model would be loaded anew for a smaller one too.
    """

    def __init__(
        self,
        client: httpx.AsyncClient,
        model: str,
        where: str,
        timeout_s: float,
        most_window_tokens: int,
        meter: Meter | None = None,
    ) -> None:
        self._client = client
        self._model = model
        self._where = where
        self._timeout_s = timeout_s
        self._most_window_tokens = most_window_tokens
        self._meter = meter
        self._window_tokens = 0

    async def exchange(self, question: Question, is_whole: Callable[[str], bool]) -> Exchange:
        """Raises Retryable, Misconfigured, and Rejected for what is too large and for an answer that breaks off twice."""
        asked = [{"role": "user", "content": question.asked}]
        first = await self._ask(question, asked, MAX_TOKENS)
        if first.broke_off:
            again = unbroken(await self._ask(question, asked, LARGER_MAX_TOKENS))
            return self._exchanged(question, ((asked, first), (asked, again)), (again.message.content,))
        text = first.message.content
        if is_whole(text):
            return self._exchanged(question, ((asked, first),), (text,))
        repairing = repaired(asked, text, question.repair)
        second = await self._ask(question, repairing, LARGER_MAX_TOKENS)
        return self._exchanged(question, ((asked, first), (repairing, second)), (text, second.message.content))

    async def _ask(self, question: Question, asked: list[ChatMessage], max_tokens: int) -> ChatAnswer:
        messages = [{"role": "system", "content": question.system}, *asked]
        # Room for the largest answer from the start: the second call shall not load the model anew.
        estimated = sum(estimated_tokens(message["content"]) for message in messages)
        wanted = window_for(estimated, LARGER_MAX_TOKENS, self._most_window_tokens)
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

    async def _read_whole(
        self, question: Question, messages: list[ChatMessage], max_tokens: int, window: int
    ) -> ChatAnswer:
        """An answer to all of the messages. Raises Rejected when the server shortened them."""
        answer = await self._post(self._body(question, messages, max_tokens, window))
        read = answer.prompt_eval_count
        least = sum(fewest_tokens(message["content"]) for message in messages)
        if read >= window or 0 < read < least:
            raise too_large(f"it read {read} tokens of at least {least}, its window has {window}")
        return answer

    def _body(self, question: Question, messages: list[ChatMessage], max_tokens: int, window: int) -> dict[str, object]:
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
            raise unreached(exc, self._where) from exc
        if response.status_code != 200:
            raise of_status(response.status_code, response.content, self._model, self._where)
        try:
            return msgspec.json.decode(response.content, type=ChatAnswer)
        except (msgspec.DecodeError, UnicodeDecodeError) as exc:
            raise Retryable(f"what {self._where} answered is no chat response: {exc}") from exc

    def _exchanged(
        self, question: Question, made: Sequence[tuple[list[ChatMessage], ChatAnswer]], texts: tuple[str, ...]
    ) -> Exchange:
        usage, calls = Usage(), list[Call]()
        for asked, answer in made:
            usage = total(usage, used(answer))
            if self._meter is not None and answer.prompt_eval_count:
                said = [each["content"] for each in asked]
                calls.extend(self._meter.measured((question.system,), said, used(answer)))
        return Exchange(model=made[-1][1].model, texts=texts, usage=usage, calls=tuple(calls))


def unbroken(answer: ChatAnswer) -> ChatAnswer:
    if answer.broke_off:
        raise Rejected(
            "truncated",
            f"the answer has more than {LARGER_MAX_TOKENS} tokens or fills the window: lower the policy's slice_tokens",
        )
    return answer


def repaired(asked: list[ChatMessage], text: str, repair: str) -> list[ChatMessage]:
    said = text.strip() or "(empty)"
    return [*asked, {"role": "assistant", "content": said}, {"role": "user", "content": repair}]


def used(answer: ChatAnswer) -> Usage:
    cached = min(answer.prompt_eval_cached_count, answer.prompt_eval_count)
    return Usage(
        input_tokens=answer.prompt_eval_count - cached, output_tokens=answer.eval_count, cache_read_tokens=cached
    )
