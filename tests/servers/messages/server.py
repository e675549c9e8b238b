"""The Messages API over HTTP: messages and the counting of their tokens."""

import json
from collections.abc import Iterable
from typing import Any

from aiohttp import web

from tests.servers.messages.batch_routes import BatchRoutes
from tests.servers.messages.batches import Batches
from tests.servers.messages.checks import COUNTED, wrong_body, wrong_headers, wrong_input
from tests.servers.messages.faults import FAULTS, Fault
from tests.servers.messages.rates import Rates
from tests.servers.messages.replies import Bill, PromptCache, counted, replied
from tests.servers.scripted import ScriptedServer, begun, cut_off


class MessagesServer(ScriptedServer):
    """Point the SDK at `server.url` with the key `KEY` and a model of `MODELS`.

    A step of the script is a name in FAULTS, one of ScriptedServer.between, `stalled` (half an answer, then nothing), `reset`
    (half an answer, then a connection that is reset), `broken` (JSON that ends in the middle), `json:` and what is answered in
    place of a message, `truncated`, `empty`, `refusal`, `context_exceeded`, `use:` and a JSON list of the tools to use (`name`,
    `input`), or `text:` and the text to answer. What is not scripted is answered by the offline rules, or summarised by them.
    `headers` keeps the headers of the requests in `seen`, `bills` what was billed for each message, in the order of the answers:
    also for one that did not arrive, or that came in a batch. `batches` are the Message Batches, `rates` the rate limits;
    `retry_after` is told with what is scripted, in seconds.
    """

    def __init__(self, port: int = 0, retry_after: str = "0.01", rates: Rates | None = None) -> None:
        super().__init__(port)
        self.headers: list[dict[str, str]] = []
        self.bills: list[Bill] = []
        self.rates = rates or Rates()
        self.batches = Batches(self._result)
        self._cache = PromptCache()
        self._retry_after = retry_after
        self._requests = 0
        self._messages = 0

    def routes(self) -> Iterable[web.RouteDef]:
        return (
            web.post("/v1/messages", self._answer),
            web.post("/v1/messages/count_tokens", self._count),
            *BatchRoutes(self.batches, lambda: self.url, self.respond, self.fault).routes(),
        )

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        wrong = wrong_headers(request)
        if wrong is not None:
            return self.fault(wrong)
        body = await request.json()
        self.seen.append(body)
        self.headers.append(dict(request.headers))
        wrong = wrong_body(body)
        if wrong is not None:
            return self.fault(wrong)
        if wait_s := self.rates.wait_s():
            return self.fault(FAULTS["rate_limited"], str(wait_s))
        self.rates.requests.take(1)
        return await self._by_script(request, body, self.step(body))

    async def _by_script(self, request: web.Request, body: dict[str, Any], step: str) -> web.StreamResponse:
        if step in FAULTS:
            return self.fault(FAULTS[step])
        between = await self.between(step)
        if between is not None:
            return between
        return await self._sent(request, self.respond(self._message(body, step)), step)

    async def _sent(self, request: web.Request, answer: web.Response, step: str) -> web.StreamResponse:
        if step == "reset":
            return await cut_off(request, answer)
        if step == "stalled":
            half = await begun(request, answer)
            await self.closing()
            return half
        if step.startswith("json:"):
            answer.text = step.removeprefix("json:")
        if step == "broken":
            assert isinstance(answer.body, bytes)
            answer.body = answer.body[: len(answer.body) // 2]
        return answer

    async def _count(self, request: web.Request) -> web.Response:
        body = await request.json()
        wrong = wrong_headers(request) or wrong_input(body, COUNTED)
        return self.fault(wrong) if wrong is not None else self.respond({"input_tokens": counted(body)})

    def fault(self, fault: Fault, retry_after: str | None = None) -> web.Response:
        answer = self.respond(fault.body(f"req_{self._requests + 1:04d}"), fault.status)
        if fault.status == 429 or fault.status >= 500:
            answer.headers["retry-after"] = retry_after or self._retry_after
        return answer

    def respond(self, value: dict[str, Any], status: int = 200) -> web.Response:
        """A JSON response with the API's headers."""
        self._requests += 1
        headers = {"request-id": f"req_{self._requests:04d}", "anthropic-organization-id": "org_0001"}
        text = json.dumps(value, ensure_ascii=False)
        return web.json_response(text=text, status=status, headers=headers | self.rates.headers())

    def _message(self, body: dict[str, Any], step: str, tier: str = "standard") -> dict[str, Any]:
        self._messages += 1
        reply = replied(body, step)
        usage = self._cache.billed(body, reply.content, tier)
        self.bills.append(Bill(body, usage))
        if tier == "standard":  # batches have limits of their own
            self.rates.spend(usage)
        return {
            "id": f"msg_{self._messages:04d}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": reply.content,
            "stop_reason": reply.stop_reason,
            "stop_sequence": None,
            "usage": usage,
        }

    def _result(self, params: dict[str, Any], step: str) -> dict[str, Any]:
        """Returns the result of a request of a batch, answered or not."""
        wrong = wrong_body(params) or FAULTS.get(step)
        if wrong is not None:
            return {"type": "errored", "error": wrong.body(None)}
        return {"type": "succeeded", "message": self._message(params, step, "batch")}
