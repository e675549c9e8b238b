"""A local reranker with the APIs of Text Embeddings Inference, Cohere, Jina and Voyage, and their faults.

A score is the share of the question's words that a text has.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

from aiohttp import web

from tests.servers.scripted import ScriptedServer

MODEL = "rerank-test"
KEY = "EXAMPLE-rerank-key"
TEI_BATCH = 32
# Status and body of real servers.
FAULTS: dict[str, tuple[int, object]] = {
    "limited": (429, {"message": "You are using a Trial key, which is limited to 10 API calls / minute."}),
    "overloaded": (503, {"error": "Model is overloaded", "error_type": "Overloaded"}),
    "forbidden": (401, {"message": f"invalid api token {KEY}"}),
    "strange": (400, {"detail": "query must not be empty"}),
}
# Changes of the rows of a response.
SPOILT = frozenset({"fewer", "wrong_index", "nan", "words"})


class RerankServer(ScriptedServer):
    """A step of the script is a name in FAULTS or SPOILT, or one of ScriptedServer.between. `keys` are those of the
    requests."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: list[str | None] = []

    def routes(self) -> Iterable[web.RouteDef]:
        return (
            web.post("/rerank", self._tei),
            web.post("/v2/rerank", self._cohere),
            web.post("/v1/rerank", self._jina_or_voyage),
        )

    async def _tei(self, request: web.Request) -> web.Response:
        body = await request.json()
        if len(body["texts"]) > TEI_BATCH:
            detail = f"batch size {len(body['texts'])} > maximum allowed batch size {TEI_BATCH}"
            return web.json_response({"error": detail, "error_type": "Validation"}, status=422)
        rows = [{"index": index, "score": score} for index, score in scored(body["query"], body["texts"])]
        return await self._answer(request, body, rows, None)

    async def _cohere(self, request: web.Request) -> web.Response:
        return await self._named(request, "results")

    async def _jina_or_voyage(self, request: web.Request) -> web.Response:
        """Recognises Jina by a parameter that Voyage does not get."""
        body = await request.json()
        return await self._named(request, "results" if "return_documents" in body else "data")

    async def _named(self, request: web.Request, results: str) -> web.Response:
        body = await request.json()
        if body.get("model") != MODEL:
            return web.json_response({"message": f"model '{body.get('model')}' not found"}, status=404)
        rows = [{"index": index, "relevance_score": score} for index, score in scored(body["query"], body["documents"])]
        return await self._answer(request, body, rows, results)

    async def _answer(
        self, request: web.Request, body: dict[str, Any], rows: list[dict[str, Any]], results: str | None
    ) -> web.Response:
        self.seen.append(body)
        self.keys.append(request.headers.get("Authorization"))
        step = self.step(body)
        if step in FAULTS:
            status, detail = FAULTS[step]
            return web.json_response(detail, status=status)
        early = await self.between(step)
        if early is not None:
            return early
        shown = spoilt(sorted(rows, key=lambda row: -max(row.get("score", 0), row.get("relevance_score", 0))), step)
        return web.Response(
            text=json.dumps(shown if results is None else {"id": "r1", results: shown}), content_type="application/json"
        )


def scored(query: str, texts: list[str]) -> list[tuple[int, float]]:
    query_words = words(query)
    return [(index, len(query_words & words(text)) / len(query_words)) for index, text in enumerate(texts)]


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def spoilt(rows: list[dict[str, Any]], step: str) -> list[dict[str, Any]]:
    first = rows[0]
    name = "score" if "score" in first else "relevance_score"
    changed = {
        "wrong_index": first | {"index": len(rows)},
        "nan": first | {name: float("nan")},
        "words": first | {name: "high"},
    }
    return rows[1:] if step == "fewer" else [changed.get(step, first), *rows[1:]]
