"""The Message Batches API over HTTP."""

import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from aiohttp import web

from tests.servers.messages.batches import Batch, Batches, wrong_batch
from tests.servers.messages.checks import wrong_headers
from tests.servers.messages.faults import FAULTS, Fault, bad_request

PATH = "/v1/messages/batches"
Handler = Callable[[web.Request], Awaitable[web.Response]]


class Failed(Exception):
    """This request is answered with a fault."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.text)
        self.fault = fault


class BatchRoutes:
    """`respond` and `fault` make responses with the API's headers; `url` is the server's, once it listens."""

    def __init__(
        self,
        batches: Batches,
        url: Callable[[], str],
        respond: Callable[[dict[str, Any]], web.Response],
        fault: Callable[[Fault], web.Response],
    ) -> None:
        self._batches = batches
        self._url = url
        self._respond = respond
        self._fault = fault

    def routes(self) -> Iterable[web.RouteDef]:
        return (
            web.post(PATH, self._guarded(self._create)),
            web.get(PATH, self._guarded(self._list)),
            web.get(f"{PATH}/{{id}}", self._guarded(self._retrieve)),
            web.delete(f"{PATH}/{{id}}", self._guarded(self._delete)),
            web.post(f"{PATH}/{{id}}/cancel", self._guarded(self._cancel)),
            web.get(f"{PATH}/{{id}}/results", self._guarded(self._results)),
        )

    def _guarded(self, handler: Handler) -> Handler:
        async def guarded(request: web.Request) -> web.Response:
            step = self._batches.faults.popleft() if self._batches.faults else "fine"
            wrong = wrong_headers(request) or FAULTS.get(step)
            if wrong is not None:
                return self._fault(wrong)
            try:
                return await handler(request)
            except Failed as failed:
                return self._fault(failed.fault)

        return guarded

    async def _create(self, request: web.Request) -> web.Response:
        body = await request.json()
        wrong = wrong_batch(body)
        if wrong is not None:
            raise Failed(wrong)
        return self._shown(self._batches.submitted(body["requests"]))

    async def _list(self, request: web.Request) -> web.Response:
        query = request.query
        found, more = self._batches.page(int(query.get("limit", 20)), query.get("after_id"), query.get("before_id"))
        ends = {"first_id": found[0].id if found else None, "last_id": found[-1].id if found else None}
        return self._respond({"data": [batch.as_json(self._url()) for batch in found], "has_more": more, **ends})

    async def _retrieve(self, request: web.Request) -> web.Response:
        return self._shown(self._batches.polled(self._asked_for(request)))

    async def _cancel(self, request: web.Request) -> web.Response:
        return self._shown(self._batches.cancel(self._asked_for(request)))

    async def _delete(self, request: web.Request) -> web.Response:
        batch = self._ended(request, "deleted")
        del self._batches.made[batch.id]
        return self._respond({"id": batch.id, "type": "message_batch_deleted"})

    async def _results(self, request: web.Request) -> web.Response:
        lines = self._ended(request, "read").lines()
        text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
        return web.Response(text=text, content_type="application/x-jsonl")

    def _asked_for(self, request: web.Request) -> Batch:
        batch = self._batches.made.get(request.match_info["id"])
        if batch is None:
            raise Failed(Fault(404, "not_found_error", f"Message batch {request.match_info['id']} not found"))
        return batch

    def _ended(self, request: web.Request, what: str) -> Batch:
        batch = self._asked_for(request)
        if batch.status != "ended":
            raise Failed(bad_request(f"Message batch {batch.id} has not ended and cannot be {what}"))
        return batch

    def _shown(self, batch: Batch) -> web.Response:
        return self._respond(batch.as_json(self._url()))
