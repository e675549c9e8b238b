"""Errors are problems by RFC 9457 with the request's id."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from agents.retrieval.admission import Admission, AdmittedSearch
from agents.retrieval.recall import Recall
from schemas.errors import Overloaded
from tests.api import NOON, POLICIES, Api, words
from tests.fakes.archive import FakeArchive
from tests.fakes.search import FakeSearch


class Full(Admission):
    """Never has a place."""

    def __init__(self) -> None:
        super().__init__(1)

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        raise Overloaded("2 wait already")
        yield


def is_problem(answer, status: int, word: str) -> bool:
    body = answer.json()
    return (
        answer.status_code == body["status"] == status
        and answer.headers["content-type"] == "application/problem+json"
        and body["type"] == f"urn:memstream:problem:{word}"
        and body["request_id"] == answer.headers["x-request-id"]
        and bool(body["title"])
    )


async def test_an_unknown_path_is_a_problem(api: Api):
    answer = await api.client(read="*").get("/v1/nothing")
    assert is_problem(answer, 404, "not-found")
    assert answer.json()["instance"] == "/v1/nothing"


async def test_an_unsupported_method_returns_405_with_the_allowed_methods(api: Api):
    answer = await api.client(read="*").put("/health/live")
    assert is_problem(answer, 405, "method-not-allowed")
    assert answer.headers["allow"] == "GET"
    of_several_routes = await api.client(read="*").put("/v1/memories/m1")
    assert of_several_routes.headers["allow"] == "DELETE, GET, PATCH"
    assert of_several_routes.json()["detail"] == "this path allows DELETE, GET, PATCH"


@pytest.mark.parametrize(
    ("path", "refused"),
    [
        ("/v1/memories?namespace=app/ada&limit=5&limit=7", "query.limit: it takes one value, and the request has 2"),
        ("/v1/memories?namespace=app/ada&namespace=app/bob", "query.namespace"),
        ("/v1/search?namespace=app/ada&q=tea&q=", "query.q"),
        ("/v1/memories/m1?detail=short&detail=full", "query.detail"),
        ("/v1/memories?namespace=app/ada&kinds=fact", "query.kinds: no such parameter; there are "),
        ("/v1/search?namespace=app/ada&text=tea", "query.text: no such parameter; there are "),
        ("/v1/memories/m1?namespace=app/ada", "query.namespace: no such parameter; there are detail"),
        ("/v1/presets?all=1", "query.all: no such parameter; there are none"),
    ],
)
async def test_an_unknown_parameter_or_one_value_given_twice_is_refused_by_name(api: Api, path: str, refused: str):
    answer = await api.client(read="*").get(path)
    assert is_problem(answer, 422, "invalid"), answer.text
    assert refused in answer.json()["detail"]


@pytest.mark.parametrize(
    "path",
    [
        "/v1/memories?namespace=app/ada&kind=fact&kind=plan&tag=a&tag=a",
        "/v1/search?namespace=app/ada&namespace=app/bob",
        "/v1/tools?namespace=app/ada&namespace=app/bob",
    ],
)
async def test_a_parameter_that_takes_a_list_may_be_repeated(api: Api, path: str):
    assert (await api.client(read="*").get(path)).status_code == 200


async def test_a_trailing_slash_is_not_redirected_to_another_route(api: Api):
    assert is_problem(await api.client(admin="*").get("/v1/memories/"), 404, "not-found")


async def test_an_outage_returns_503_with_retry_after(api: Api):
    api.memories.down = True
    answer = await api.client(read="*").get("/v1/memories/m1")
    assert is_problem(answer, 503, "unavailable")
    assert int(answer.headers["retry-after"]) > 0


async def test_an_unexpected_exception_returns_500_without_its_message(api: Api, monkeypatch: pytest.MonkeyPatch):
    async def broken(memory_id):
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(api.memories, "get", broken)
    answer = await api.client(read="*").get("/v1/memories/m1", headers={"X-Request-Id": "r-1"})
    assert is_problem(answer, 500, "internal")
    assert answer.json()["request_id"] == "r-1"
    assert "secret" not in answer.text


@pytest.mark.parametrize("said", ["a" * 129, "line\tbreak", "<script>", ""])
async def test_a_request_id_that_could_harm_a_log_is_replaced(api: Api, said):
    answer = await api.client().get("/health/live", headers={"X-Request-Id": said})
    assert answer.headers["x-request-id"] not in ("", said)
    assert len(answer.headers["x-request-id"]) == 36


async def test_control_characters_in_a_path_cannot_forge_log_lines(api: Api, caplog: pytest.LogCaptureFixture):
    caplog.set_level("INFO", "agents.api")
    api.memories.down = True
    await api.client(read="*").get("/v1/memories/m1%0A%0D2026 INFO forged%1B")
    messages = [record.getMessage() for record in caplog.records if record.name.startswith("agents.api")]
    assert len(messages) == 2
    assert not any(character in message for message in messages for character in "\n\r\x1b")


@pytest.mark.parametrize("path", ["/v1/search", "/v1/context"])
async def test_a_process_at_its_search_admission_limit_returns_503_overloaded(path: str):
    searched, full = FakeSearch(), Full()
    api = Api(
        retrieval=AdmittedSearch(searched, full),
        recall=Recall(searched, FakeArchive(), POLICIES, words, lambda: NOON, admission=full),
    )
    answer = await api.client(read="*").post(path, json={"namespaces": ["app/ada"], "text": "dogs"})
    assert is_problem(answer, 503, "overloaded")
    assert int(answer.headers["retry-after"]) > 0
