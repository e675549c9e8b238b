"""The Ollama provider: a model on one's own machine, asked over HTTP with the answer's JSON Schema, with one repair."""

from typing import Any, Final

import httpx
import msgspec
import orjson
from msgspec import Struct

from agents.llm.answers import check
from agents.llm.claude import REPAIR, REPAIR_SUMMARY, best, unreadable
from agents.llm.metering import Meter
from agents.llm.ollama_calls import CONNECT_S, OllamaCalls, Question
from agents.llm.ollama_errors import unreached
from agents.llm.port import Answer, Context, Summary
from agents.llm.prompts import STABLE, answer_schema, data_part, policy_part
from agents.llm.replies import read_reply, read_summary
from agents.llm.summaries import estimated_tokens, fitted
from agents.llm.summary_prompt import SUMMARISE, SUMMARY_SCHEMA, length_part, summary_data
from schemas.policies import Policy
from schemas.requests import ExtractionRequest
from streams.windows.tokens import TokenCount

LATEST: Final = ":latest"
AVAILABLE_S: Final = 2.0


class Installed(Struct, frozen=True):
    """A model that was pulled."""

    name: str


class Models(Struct, frozen=True):
    models: list[Installed] = []


class OllamaProvider:
    """Asks `model`, with or without its tag, of the Ollama server at `base_url`. It retries nothing.

    `timeout_s` is one call's, a model that must be loaded first included: the first call after a pause may need most of it.
    The window is as large as a slice needs, at most `most_window_tokens`: its memory is the server's.
    With `count_tokens` answers say what their calls sent; without it they do not, and tokens of summaries are estimated.
    Raises Misconfigured for a `base_url` that is none.
    """

    name = "ollama"

    def __init__(
        self,
        model: str,
        base_url: str = "http://127.0.0.1:11434",
        timeout_s: float = 120.0,
        count_tokens: TokenCount | None = None,
        most_window_tokens: int = 32_768,
    ) -> None:
        self._model = model
        self._client = client_at(base_url, timeout_s)
        where = self._client.base_url.copy_with(username="", password="")
        meter = Meter(count_tokens) if count_tokens else None
        self._calls = OllamaCalls(self._client, model, str(where).rstrip("/"), timeout_s, most_window_tokens, meter)
        self._count_tokens = count_tokens or estimated_tokens

    def __repr__(self) -> str:
        return f"OllamaProvider(model={self._model!r})"

    async def extract(self, request: ExtractionRequest, context: Context) -> Answer:
        """Raises as the port says; `unreadable` and `truncated` are reasons of Rejected after the second attempt."""
        question = extraction(request, context)
        exchange = await self._calls.exchange(question, lambda text: read_reply(text).whole)
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
        question = summing_up(request, policy)
        exchange = await self._calls.exchange(question, lambda text: read_summary(text) is not None)
        told = read_summary(exchange.texts[-1])
        if told is None:
            raise unreadable()
        most = policy.window.summary_tokens
        text = fitted(told, most, self._count_tokens) or fitted(request.summary, most, self._count_tokens)
        return Summary(provider=self.name, model=exchange.model, text=text, usage=exchange.usage, calls=exchange.calls)

    async def available(self) -> bool:
        """Whether the server answers within AVAILABLE_S seconds and has the model; loads nothing."""
        try:
            response = await self._client.get("/api/tags", timeout=AVAILABLE_S)
            pulled = msgspec.json.decode(response.content, type=Models).models
        except (httpx.HTTPError, msgspec.DecodeError, UnicodeDecodeError):
            return False
        return tagged(self._model) in {tagged(each.name) for each in pulled}

    async def close(self) -> None:
        """Closes the connections to the server; the model stays loaded until its time is up."""
        await self._client.aclose()


def client_at(base_url: str, timeout_s: float) -> httpx.AsyncClient:
    timeout = httpx.Timeout(timeout_s, connect=min(timeout_s, CONNECT_S))
    try:
        # A proxy of the environment would be asked for the loopback address, and be sent the conversation.
        return httpx.AsyncClient(base_url=base_url, timeout=timeout, trust_env=False)
    except httpx.InvalidURL as exc:
        raise unreached(exc, base_url) from exc


def tagged(model: str) -> str:
    """A name as Ollama compares it: its tag is `latest` unless told otherwise, and case does not matter."""
    return (model if ":" in model.rpartition("/")[2] else model + LATEST).casefold()


def extraction(request: ExtractionRequest, context: Context) -> Question:
    schema = answer_schema(context.policy)
    return Question(
        system=f"{STABLE}\n{policy_part(context.policy)}\n{schema_part(schema)}",
        asked=data_part(request, context),
        schema=schema,
        repair=REPAIR,
    )


def summing_up(request: ExtractionRequest, policy: Policy) -> Question:
    return Question(
        system=f"{SUMMARISE}\n{length_part(policy)}\n{schema_part(SUMMARY_SCHEMA)}",
        asked=summary_data(request),
        schema=SUMMARY_SCHEMA,
        repair=REPAIR_SUMMARY,
    )


def schema_part(schema: dict[str, Any]) -> str:
    """Ollama holds the sampling to a schema but tells the model nothing of it; some models it does not even hold to it."""
    return f"The answer is one JSON object of this schema: {orjson.dumps(schema).decode()}"
