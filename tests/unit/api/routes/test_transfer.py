"""Export and import over HTTP: complete, streamed and idempotent."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from agents.api.http.line_splitter import MAX_LINE_BYTES
from agents.api.memories import imports
from agents.api.memories.exports import export_pages
from schemas import ids
from schemas.extraction.candidates import Source
from tests.api import NOON, Api, a_memory
from tests.fakes.exports import FakeExports
from tests.fakes.memories import FakeMemories

ADA = {"namespace": "app/ada"}
ONE, TWO = (ids.memory_id(name) for name in ("one", "two"))
NDJSON = {"Content-Type": "application/x-ndjson"}


def lines(*memories: Any) -> str:
    return "".join(json.dumps(memory) + "\n" for memory in memories)


async def test_an_export_has_active_and_superseded_memories_of_the_namespace_and_no_deleted_ones(api: Api):
    api.memories.put(*(a_memory(f"m{number}") for number in range(5)))
    api.memories.put(a_memory("old", status="superseded"), a_memory("gone", status="deleted"))
    api.memories.put(a_memory("bob", namespace="app/bob"))
    answer = await api.client(read="app/ada").get("/v1/export", params=ADA)
    assert answer.headers["content-type"] == "application/x-ndjson"
    exported = [json.loads(line) for line in answer.text.splitlines()]
    assert [memory["memory_id"] for memory in exported] == ["m0", "m1", "m2", "m3", "m4", "old"]
    live = await api.client(read="*").get("/v1/export", params=ADA | {"status": "active"})
    assert len(live.text.splitlines()) == 5
    assert (await api.client(read="*").get("/v1/export", params={"namespace": "none"})).text == ""


async def test_an_export_includes_versions_on_request(api: Api):
    client = api.client(write="app/*")
    made = (await client.post("/v1/memories", json=ADA | {"text": "User has a dog"})).json()
    plain = json.loads((await client.get("/v1/export", params=ADA)).text)
    assert "versions" not in plain
    exported = json.loads((await client.get("/v1/export", params=ADA | {"versions": "true"})).text)
    assert [version["change"] for version in exported["versions"]] == ["created"]
    assert exported["memory_id"] == made["memory_id"]


async def test_an_export_is_in_the_audit_log_and_refused_without_an_entry(api: Api):
    api.memories.put(a_memory("m"))
    client = api.client(read="app/*")
    assert (await client.get("/v1/export", params=ADA | {"status": "active"})).text
    details = {"status": ["active"], "versions": False}
    entry = ("key 1 (key1)", "namespace.export", "app/ada", details)
    assert [(row.actor, row.action, row.subject, row.details) for row in api.audit.rows] == [entry]
    assert (await client.get("/v1/export", params={"namespace": "none"})).status_code == 403
    api.audit.down = True
    assert (await client.get("/v1/export", params=ADA)).status_code == 503
    assert len(api.audit.rows) == 1


async def test_an_export_with_versions_holds_few_memories_at_a_time():
    memories = FakeMemories(*(a_memory(f"m{number:03}") for number in range(205)))
    exports = FakeExports(memories, size=1_000)
    for with_versions, pages in ((False, 2), (True, 21)):
        exported = [page async for page in export_pages(exports, "app/ada", ["active"], with_versions=with_versions)]
        assert (len(exported), b"".join(exported).count(b"\n")) == (pages, 205)
    assert exports.most_at_once == 10


async def test_an_export_failing_at_the_start_returns_503_and_one_failing_midway_is_left_unterminated(api: Api):
    api.memories.put(*(a_memory(f"m{number}") for number in range(5)))
    client = api.client(read="*")
    api.exports.fails_at = 1
    assert (await client.get("/v1/export", params=ADA)).status_code == 503
    api.exports.fails_at = api.exports.calls + 2
    sent: list[Any] = []
    key = client.headers["Authorization"].encode()
    scope = {
        **{"type": "http", "method": "GET", "path": "/v1/export", "query_string": b"namespace=app/ada"},
        **{"headers": [(b"authorization", key)], "http_version": "1.1", "scheme": "http", "server": ("api", 80)},
    }

    async def receive() -> Any:
        await asyncio.Event().wait()  # the client stays

    async def send(message: Any) -> None:
        sent.append(message)

    with pytest.raises(Exception, match="response already started"):
        await api.app(scope, receive, send)
    bodies = [message for message in sent if message["type"] == "http.response.body"]
    assert [message.get("more_body") for message in bodies] == [True]


async def test_an_exported_memory_is_imported_unchanged_under_its_id(api: Api):
    origin = {"created_at": NOON, "event_time": NOON, "language": "en", "kinds": ("place",), "reinforcement_count": 3}
    memory = a_memory(ONE, tags=("home",), pinned=True, full_text="At length.", importance=0.8, **origin)
    api.memories.put(memory)
    exported = (await api.client(read="*").get("/v1/export", params=ADA)).text
    api.memories.rows.clear()
    answer = await api.client(write="app/ada").post("/v1/import", params=ADA, content=exported, headers=NDJSON)
    assert answer.status_code == 202
    report = answer.json()
    assert (report["lines"], report["accepted"], report["rejected"], report["problems"]) == (1, 1, 0, [])
    now = api.memories.rows[ONE]
    kept = (
        "text",
        "kind",
        "kinds",
        "tags",
        "full_text",
        "importance",
        "pinned",
        "created_at",
        "created_by",
        "language",
    )
    assert [getattr(now, name) for name in kept] == [getattr(memory, name) for name in kept]
    assert (now.event_time, now.reinforcement_count, now.version) == (NOON, 3, 1)
    response = await api.client(read="*").get(f"/v1/commands/import:{report['import_id']}:1", params=ADA)
    assert (response.json()["status"], response.json()["memory_id"]) == ("accepted", ONE)


async def test_an_export_and_import_keep_validity_dates_and_the_last_said_time(api: Api):
    said = Source(conversation_id="c", message_id="m", timestamp=NOON - timedelta(days=3))
    dates = {"valid_from": NOON - timedelta(days=2), "valid_until": NOON + timedelta(days=30)}
    api.memories.put(a_memory(ONE, sources=(said,), **dates))
    exported = (await api.client(read="*").get("/v1/export", params=ADA)).text
    api.memories.rows.clear()
    await api.client(write="app/ada").post("/v1/import", params=ADA, content=exported, headers=NDJSON)
    now = api.memories.rows[ONE]
    assert (now.valid_from, now.valid_until, now.said_at) == (*dates.values(), said.timestamp)


async def test_repeating_an_import_under_any_import_id_or_memory_id_creates_no_new_version(api: Api):
    client = api.client(write="app/ada")
    content = lines({"text": "User has a dog", "memory_id": TWO}, {"text": "User skis"})
    for import_id in ("one", "one", "two"):
        answer = await client.post("/v1/import", params=ADA | {"import_id": import_id}, content=content, headers=NDJSON)
        assert answer.json()["accepted"] == 2
    assert len(api.memories.version_rows) == 2
    renamed = lines({"text": "user has a dog.", "memory_id": "other"})
    await client.post("/v1/import", params=ADA, content=renamed, headers=NDJSON)
    assert set(api.memories.rows) >= {TWO}
    assert len(api.memories.version_rows) == 2, "the same text is there"


@pytest.mark.parametrize("foreign", ["m7", "a/b", "42", ONE.upper(), "{" + ONE + "}", "urn:uuid:" + ONE])
async def test_an_imported_memory_id_that_is_no_uuid_maps_to_a_stable_uuid(api: Api, foreign: str):
    for _ in range(2):
        await api.client(write="app/ada").post(
            "/v1/import", params=ADA, content=lines({"memory_id": foreign, "text": "Ada skis"}), headers=NDJSON
        )
    assert [ids.is_uuid(memory_id) for memory_id in api.memories.rows] == [True]
    assert len(api.memories.version_rows) == 1


async def test_importing_an_id_used_in_another_namespace_creates_a_separate_memory(api: Api):
    api.memories.put(a_memory(ONE, namespace="app/bob", text="Bob's"))
    for _ in range(2):
        await api.client(write="app/ada").post(
            "/v1/import", params=ADA, content=lines({"memory_id": ONE, "text": "Ada's"}), headers=NDJSON
        )
    assert api.memories.rows[ONE].text == "Bob's"
    own = [memory for memory in api.memories.rows.values() if memory.namespace == "app/ada"]
    assert [memory.text for memory in own] == ["Ada's"]
    assert len(api.memories.version_rows) == 1


async def test_importing_a_deleted_memory_restores_it(api: Api):
    api.memories.put(a_memory(ONE, status="deleted", text="", version=2))
    content = lines({"memory_id": ONE, "text": "User has a dog"})
    await api.client(write="app/ada").post("/v1/import", params=ADA, content=content, headers=NDJSON)
    memory = api.memories.rows[ONE]
    assert (memory.status, memory.text, memory.version) == ("active", "User has a dog", 3)


async def test_the_import_report_names_each_invalid_line_and_the_valid_ones_are_imported(api: Api):
    wrong = [
        "{",
        '{"text": " "}',
        '{"text": "x", "importance": 2}',
        '"text"',
        '{"text": "' + "y" * MAX_LINE_BYTES + '"}',
    ]
    superseded = json.dumps({"text": "User had a cat", "status": "superseded"})
    content = "\n".join([*wrong, superseded, "", '{"text": "User has a dog", "importance": 0.4}'])
    answer = await api.client(write="app/ada").post("/v1/import", params=ADA, content=content, headers=NDJSON)
    report = answer.json()
    assert (report["lines"], report["accepted"], report["skipped"], report["rejected"]) == (7, 1, 1, 5)
    assert [problem["line"] for problem in report["problems"]] == [1, 2, 3, 4, 5]
    assert "importance" in report["problems"][2]["reason"]
    assert "longer than" in report["problems"][4]["reason"]
    assert [command.text for command in api.curation.seen] == ["User has a dog"]


async def test_import_lines_are_sent_in_batches_while_the_upload_continues(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(imports, "BATCH_LINES", 10)
    monkeypatch.setattr(imports, "MAX_REPORTED_PROBLEMS", 3)
    most_ahead = 0

    async def content() -> AsyncIterator[bytes]:
        nonlocal most_ahead
        for number in range(100):
            most_ahead = max(most_ahead, number - len(api.curation.seen))
            yield lines({"text": f"User owns thing {number}"}).encode()
        for _ in range(5):
            yield b"{\n"

    answer = await api.client(write="app/ada").post("/v1/import", params=ADA, content=content(), headers=NDJSON)
    report = answer.json()
    assert (report["accepted"], report["rejected"], len(report["problems"])) == (100, 5, 3)
    assert len(api.curation.seen) == 100
    assert len({command.memory_id for command in api.curation.seen}) == 100


@pytest.mark.parametrize(
    ("params", "headers", "status"),
    [
        (ADA, {"Content-Type": "application/json"}, 415),
        (ADA, {}, 415),
        (ADA | {"import_id": "a b"}, NDJSON, 422),
        ({"namespace": "app/bob"}, NDJSON, 403),
        ({}, NDJSON, 422),
    ],
)
async def test_an_import_with_invalid_parameters_or_headers_is_rejected_before_the_body_is_read(
    api: Api, params, headers, status
):
    answer = await api.client(write="app/ada").post("/v1/import", params=params, content="{}", headers=headers)
    assert answer.status_code == status
    assert api.curation.seen == []


async def test_an_import_during_a_kafka_outage_returns_503_with_retry_after(api: Api):
    api.curation.down = True
    client, content = api.client(write="*"), lines({"text": "User has a dog"})
    answer = await client.post("/v1/import", params=ADA, content=content, headers=NDJSON)
    assert (answer.status_code, "retry-after" in answer.headers) == (503, True)


async def test_an_import_needs_the_right_to_write_and_an_export_the_right_to_read(api: Api):
    client = api.client(read="app/ada")
    assert (await client.post("/v1/import", params=ADA, content="", headers=NDJSON)).status_code == 403
    assert (await client.get("/v1/export", params=ADA)).status_code == 200
    assert (await client.get("/v1/export", params={"namespace": "app/bob"})).status_code == 403


async def test_an_import_accepting_ndjson_streams_progress_lines_and_a_final_report(api: Api):
    content = lines(*({"text": f"User owns thing {number}"} for number in range(3))) + "{\n"
    headers = NDJSON | {"Accept": "application/x-ndjson"}
    answer = await api.client(write="app/ada").post(
        "/v1/import", params=ADA | {"import_id": "one"}, content=content, headers=headers
    )
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-ndjson")
    *steps, report = [json.loads(line) for line in answer.text.splitlines()]
    assert steps[-1] == {"import_id": "one", "lines": 4, "accepted": 3, "carried_out": 3}
    assert (report["accepted"], report["rejected"], report["problems"][0]["line"]) == (3, 1, 4)


async def test_an_import_accepting_ndjson_returns_503_during_a_kafka_outage(api: Api):
    api.curation.down = True
    headers = NDJSON | {"Accept": "application/x-ndjson"}
    content = lines({"text": "User has a dog"})
    assert (
        await api.client(write="*").post("/v1/import", params=ADA, content=content, headers=headers)
    ).status_code == 503
