"""A local embedding server: Ollama's `/api/embed` and OpenAI's `/v1/embeddings`, with their checks, limits and faults. Its
vectors are those of tests.fakes.embedder."""

from collections.abc import Iterable
from typing import Any

from aiohttp import web

from tests.fakes.embedder import FakeEmbedder
from tests.servers.scripted import ScriptedServer

MODEL = "embed-test"
KEY = "EXAMPLE-embedding-key"
# Status, headers and body of real servers.
FAULTS: dict[str, tuple[int, dict[str, str], object]] = {
    "limited": (429, {"Retry-After": "3"}, {"error": {"message": "Rate limit reached", "type": "tokens"}}),
    "limited_long": (429, {"Retry-After": "300"}, {"error": {"message": "You exceeded your current quota"}}),
    "overloaded": (503, {}, {"error": "Model is overloaded", "error_type": "Overloaded"}),
    "loading": (500, {}, {"error": "llama runner process has terminated"}),
    "forbidden": (403, {}, {"error": {"message": f"not with {KEY}"}}),
    "strange": (400, {}, {"detail": "input contains a forbidden token"}),
}
# Changes of the first vector of a response, or of the response.
SPOILT = frozenset({"zero", "nan", "null", "short", "fewer", "wrong_index"})


class EmbeddingServer(ScriptedServer):
    """A step of the script is a name in FAULTS or SPOILT, or one of ScriptedServer.between.

    Requests with more than `max_texts` texts are refused as by Text Embeddings Inference, texts of more than `max_chars`
    as by the protocol's server; Ollama truncates them if `cuts` is on, as before 0.13.5. With a `key`, other keys are
    refused. OpenAI's items come in reverse order, which their index allows.
    """

    def __init__(
        self, dimension: int = 384, max_texts: int = 32, max_chars: int = 2_000, cuts: bool = True, key: str = ""
    ) -> None:
        super().__init__()
        self.dimension = dimension
        self._max_texts = max_texts
        self._max_chars = max_chars
        self._cuts = cuts
        self._key = key

    @property
    def openai_url(self) -> str:
        return f"{self.url}/v1"

    def routes(self) -> Iterable[web.RouteDef]:
        return (web.post("/api/embed", self._ollama), web.post("/v1/embeddings", self._openai))

    async def _ollama(self, request: web.Request) -> web.Response:
        body = await request.json()
        if body.get("model") not in (MODEL, f"{MODEL}:latest"):
            return web.json_response(
                {"error": f'model "{body.get("model")}" not found, try pulling it first'}, status=404
            )
        if any(len(text) > self._max_chars for text in body["input"]) and not (
            self._cuts and body.get("truncate", True)
        ):
            return web.json_response({"error": "the input length exceeds the context length"}, status=400)
        texts = [text[: self._max_chars] for text in body["input"]]
        step, early = await self._early(request, body)
        if early is not None:
            return early
        rows = spoilt(await self._rows(texts, body), step)
        return web.json_response({"model": body["model"], "embeddings": rows, "total_duration": 2_000_000})

    async def _openai(self, request: web.Request) -> web.Response:
        body = await request.json()
        if self._key and request.headers.get("Authorization") != f"Bearer {self._key}":
            error = {
                "message": "Incorrect API key provided",
                "type": "invalid_request_error",
                "code": "invalid_api_key",
            }
            return web.json_response({"error": error}, status=401)
        wrong = self._wrong(body)
        if wrong is not None:
            return wrong
        step, early = await self._early(request, body)
        if early is not None:
            return early
        rows = spoilt(await self._rows(body["input"], body), step)
        items = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
        if step == "wrong_index":
            items[0]["index"] = len(items)
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return web.json_response({"object": "list", "data": items[::-1], "model": body["model"], "usage": usage})

    def _wrong(self, body: dict[str, Any]) -> web.Response | None:
        if body.get("model") != MODEL:
            error = {"message": f"The model `{body.get('model')}` does not exist.", "code": "model_not_found"}
            return web.json_response({"error": error}, status=404)
        if any(not text.strip() for text in body["input"]):
            return web.json_response({"error": {"message": "input cannot be an empty string"}}, status=400)
        if len(body["input"]) > self._max_texts:
            said = f"batch size {len(body['input'])} > maximum allowed batch size {self._max_texts}"
            return web.json_response({"error": said, "error_type": "Validation"}, status=422)
        if any(len(text) > self._max_chars for text in body["input"]):
            said = f"Input validation error: `inputs` must have less than {self._max_chars} tokens"
            return web.json_response({"error": said, "error_type": "Validation"}, status=413)
        return None

    async def _early(self, request: web.Request, body: dict[str, Any]) -> tuple[str, web.Response | None]:
        """The step of the script, and its response if that has no vectors."""
        self.seen.append(body)
        step = self.step(body)
        if step in FAULTS:
            status, headers, said = FAULTS[step]
            return step, web.json_response(said, status=status, headers=headers)
        return step, await self.between(step)

    async def _rows(self, texts: list[str], body: dict[str, Any]) -> list[list[float | None]]:
        embedder = FakeEmbedder(body.get("dimensions") or self.dimension)
        return [[3.0 * float(value) for value in row] for row in await embedder.embed(texts)]  # not of length one


def spoilt(rows: list[list[float | None]], step: str) -> list[list[float | None]]:
    first = rows[0]
    changed: dict[str, list[float | None]] = {
        "zero": [0.0] * len(first),
        "nan": [float("nan"), *first[1:]],
        "null": [None, *first[1:]],
        "short": first[1:],
    }
    return rows[1:] if step == "fewer" else [changed.get(step, first), *rows[1:]]
