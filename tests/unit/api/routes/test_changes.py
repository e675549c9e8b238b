"""Changing memories over HTTP returns the outcome of the command."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from schemas import codec
from schemas.errors import Rejected
from schemas.memories.commands import Command
from tests.api import NOON, Api, a_memory

NEW = {"namespace": "app/ada", "text": "User plays chess."}


async def test_creating_a_memory_returns_the_memory_and_its_location(api: Api):
    client = api.client(write="app/*")
    answer = await client.post("/v1/memories", json=NEW | {"kind": "skill", "importance": 850, "scale": "points"})
    assert answer.status_code == 201
    body = answer.json()
    assert (body["status"], body["change"], body["memory"]["kind"]) == ("accepted", "created", "skill")
    assert body["memory"]["importance_points"] == 850
    assert body["memory"]["created_by"] == "key 1 (key1)"
    read = await client.get(answer.headers["location"])
    assert body["memory"].items() <= read.json().items()
    assert read.headers["etag"] == answer.headers["etag"]


async def test_a_memory_records_the_user_who_stated_it_and_the_key_that_created_it(api: Api):
    client = api.client(write="app/*")
    memory = (await client.post("/v1/memories", json=NEW | {"told_by": ["ada"]})).json()["memory"]
    assert (memory["told_by"], memory["created_by"]) == (["ada"], "key 1 (key1)")


async def test_a_memory_can_be_created_from_a_full_text_without_a_short_text(api: Api):
    api.curation.late = True
    body = {"namespace": "app/ada", "full_text": "User plays chess on Tuesdays, at the club by the river."}
    assert (await api.client(write="*").post("/v1/memories", json=body)).status_code == 202
    assert (api.curation.seen[0].text, api.curation.seen[0].full_text) == (None, body["full_text"])


async def test_creating_a_memory_with_a_known_text_reinforces_the_existing_one(api: Api):
    api.memories.put(a_memory())
    answer = await api.client(write="*").post("/v1/memories", json=NEW | {"text": "user lives in Ghent"})
    assert answer.status_code == 200
    assert (answer.json()["change"], answer.json()["memory_id"]) == ("reinforced", "m1")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"text": " "}, "$.text"),
        ({"text": None}, "give `text` or `full_text`"),
        ({"text": None, "full_text": " "}, "give `text` or `full_text`"),
        ({"importance": 7}, "at most 1"),
        ({"importance": 11, "scale": "tenths"}, "at most 10"),
        ({"importance": -1}, "$.importance"),
        ({"colour": "red"}, "colour"),
        ({"namespace": ""}, "$.namespace"),
        ({"tags": "home"}, "$.tags"),
    ],
)
async def test_an_invalid_new_memory_is_rejected_with_the_offending_field(api: Api, body, said):
    answer = await api.client(write="*").post("/v1/memories", json=NEW | body)
    assert answer.status_code == 422
    assert said in answer.json()["detail"]
    assert api.curation.seen == []


async def test_malformed_json_wrong_content_type_deep_nesting_and_oversize_get_different_status_codes(api: Api):
    client, json = api.client(write="*"), {"content-type": "application/json"}
    assert (await client.post("/v1/memories", content=b"{", headers=json)).status_code == 400
    assert (await client.post("/v1/memories", content=b"{}", headers={"content-type": "text/plain"})).status_code == 415
    assert (await client.post("/v1/memories", content=b"[" * 500 + b"]" * 500, headers=json)).status_code == 422
    for body in (b"x" * 1_048_577, in_parts(1_048_577)):
        large = await client.post("/v1/memories", content=body, headers=json)
        assert (large.status_code, large.json()["type"]) == (413, "urn:memstream:problem:content-too-large")


async def test_the_reason_for_refusing_a_value_says_what_would_be_accepted(api: Api):
    client = api.client(write="*")
    answers = [
        await client.post("/v1/memories", json=NEW | body) for body in ({"scale": "percent"}, {"valid_from": "May 3"})
    ]
    assert [answer.status_code for answer in answers] == [422, 422]
    enum, time = (answer.json()["detail"] for answer in answers)
    assert "use fraction, tenths, points" in enum
    assert "such as 2026-03-02T09:00:00Z" in time


async def test_a_request_without_a_body_is_an_empty_object(api: Api):
    answer = await api.client(write="*").post("/v1/memories")
    assert (answer.status_code, answer.json()["detail"][:14]) == (422, "not a NewMemory"[:14])


async def in_parts(size: int) -> AsyncIterator[bytes]:
    """Without saying how much there will be."""
    for _ in range(0, size, 1_000):
        yield b"x" * 1_000


async def test_a_repeated_request_with_the_same_idempotency_key_is_executed_once(api: Api):
    client, key = api.client(write="*"), {"Idempotency-Key": "k1"}
    first = await client.post("/v1/memories", json=NEW, headers=key)
    again = await client.post("/v1/memories", json=NEW, headers=key)
    assert (first.status_code, first.json()) == (again.status_code, again.json())
    assert len(api.curation.seen) == 1
    other_caller = await api.client(write="*").post("/v1/memories", json=NEW, headers=key)
    assert other_caller.json()["change"] == "reinforced"
    deleted = [await client.delete(first.headers["location"], headers=key) for _ in range(2)]
    assert [answer.status_code for answer in deleted] == [200, 200]
    assert (await client.delete(first.headers["location"])).status_code == 404


@pytest.mark.parametrize("late", [False, True])
async def test_reusing_an_idempotency_key_for_a_different_request_is_rejected(api: Api, late: bool):
    client, key = api.client(write="*"), {"Idempotency-Key": "k1"}
    assert (await client.post("/v1/memories", json=NEW, headers=key)).status_code == 201
    if late:  # the other process has not seen the outcome when it looks, and sends the command
        api.curation.outcome = nothing_known  # type: ignore[method-assign]
    other = await client.post("/v1/memories", json=NEW | {"text": "User has a cat."}, headers=key)
    assert (other.status_code, other.json()["type"]) == (422, "urn:memstream:problem:idempotency-key-reused")
    assert [memory.text for memory in api.memories.rows.values()] == [NEW["text"]]
    assert (await client.post("/v1/memories", json=NEW, headers=key)).status_code == 201


async def nothing_known(namespace: str, command_id: str) -> None:
    return None


async def test_the_request_digest_depends_on_the_idempotency_key_and_is_absent_without_one(api: Api):
    client = api.client(write="*")
    for key in ("k1", "k2"):
        await client.post("/v1/memories", json=NEW, headers={"Idempotency-Key": key})
    await client.post("/v1/memories", json=NEW)
    one, other, without = (command.digest for command in api.curation.seen)
    assert one != other
    assert without is None


async def test_an_update_changes_only_the_given_fields(api: Api):
    api.memories.put(a_memory(tags=("home",), importance=0.5))
    answer = await api.client(write="*").patch(
        "/v1/memories/m1", json={"text": "User lives in Bruges.", "reason": "moved"}
    )
    assert answer.status_code == 200
    memory = answer.json()["memory"]
    assert (memory["text"], memory["tags"], memory["importance"], memory["version"]) == (
        "User lives in Bruges.",
        ["home"],
        0.5,
        2,
    )
    assert api.memories.version_rows[-1].cause.reason == "moved"


async def test_null_clears_a_validity_bound_and_an_undo_restores_it(api: Api):
    until = NOON + timedelta(days=9)
    api.memories.put(a_memory(valid_from=NOON, valid_until=until, superseded_by="m2"))
    client = api.client(write="*")
    memory = (await client.patch("/v1/memories/m1", json={"valid_until": None})).json()["memory"]
    assert memory.keys().isdisjoint({"valid_until", "superseded_by"})
    assert memory["valid_from"]
    await client.patch("/v1/memories/m1", json={"valid_from": None, "text": "User lives in Lille."})
    assert api.memories.rows["m1"].valid_from is None
    versions = (await client.get("/v1/memories/m1/versions")).json()["versions"]
    assert ["valid_from" in each["after"] for each in versions] == [True, False]
    for version in (3, 2):
        await client.post("/v1/memories/m1/undo", json={"version": version})
    assert (api.memories.rows["m1"].valid_from, api.memories.rows["m1"].valid_until) == (NOON, until)


async def test_an_event_time_is_set_changed_and_cleared(api: Api):
    first, second = NOON + timedelta(days=9), NOON + timedelta(days=10)
    client = api.client(write="*")
    made = await client.post("/v1/memories", json=NEW | {"event_time": first.isoformat()})
    memory_id = made.json()["memory_id"]
    assert api.memories.rows[memory_id].event_time == first
    for sent, stored in ((second.isoformat(), second), (None, None)):
        changed = await client.patch(f"/v1/memories/{memory_id}", json={"event_time": sent})
        assert changed.status_code == 200, changed.text
        assert api.memories.rows[memory_id].event_time == stored


async def test_a_statement_that_ended_in_the_past_is_created_with_an_unknown_beginning(api: Api):
    until = NOON - timedelta(days=9)
    made = await api.client(write="*").post("/v1/memories", json=NEW | {"valid_until": until.isoformat()})
    assert made.status_code == 201, made.text
    (memory,) = api.memories.rows.values()
    assert (memory.valid_from, memory.valid_until) == (None, until)


async def test_an_end_before_a_memorys_beginning_is_refused_with_both_times_and_the_remedy(api: Api):
    api.memories.put(a_memory(valid_from=NOON))
    client, until = api.client(write="*"), (NOON - timedelta(days=9)).isoformat()
    refused = await client.patch("/v1/memories/m1", json={"valid_until": until})
    assert refused.status_code == 409
    for part in (until, NOON.isoformat(), "give an earlier valid_from as well, or clear it"):
        assert part in refused.json()["detail"]
    assert (await client.patch("/v1/memories/m1", json={"valid_until": until, "valid_from": None})).status_code == 200


async def test_clearing_an_absent_validity_bound_creates_no_version(api: Api):
    api.memories.put(a_memory())
    assert (await api.client(write="*").patch("/v1/memories/m1", json={"valid_from": None})).status_code == 200
    assert api.memories.version_rows == []


def test_a_command_that_sets_and_clears_the_same_field_is_invalid():
    said = {"command_id": "c", "kind": "update", "namespace": "n", "at": NOON, "memory_id": "m1", "valid_until": NOON}
    with pytest.raises(Rejected, match="`valid_until` has a value and is in `cleared`"):
        codec.convert(said | {"cleared": ["valid_until"]}, Command)


NULLS = [{"text": None}, {"expires_at": None}]


@pytest.mark.parametrize("body", [{}, {"reason": "why"}, {"scale": "tenths"}, *NULLS, {"namespace": "other"}])
async def test_an_update_that_is_empty_or_nulls_a_required_field_is_rejected(api: Api, body):
    api.memories.put(a_memory())
    assert (await api.client(write="*").patch("/v1/memories/m1", json=body)).status_code == 422


async def test_a_write_with_a_stale_if_match_etag_gets_412(api: Api):
    api.memories.put(a_memory(version=3))
    client = api.client(write="*")
    for stale in ('"2"', 'W/"3"', "3", '"2", "4-short"'):
        answer = await client.patch("/v1/memories/m1", json={"text": "New."}, headers={"If-Match": stale})
        assert (answer.status_code, answer.headers["etag"]) == (412, '"3"')
    assert api.curation.seen == []
    for fresh in ('"3"', '"1", "3-short"', "*"):
        api.memories.put(a_memory(version=3))
        answer = await client.patch("/v1/memories/m1", json={"text": "New."}, headers={"If-Match": fresh})
        assert answer.status_code == 200


async def test_a_concurrent_write_after_the_etag_check_still_gets_412_from_the_curator(api: Api):
    api.memories.put(a_memory(version=3))
    api.curation.before = lambda: api.memories.put(a_memory(version=4, text="Of another writer."))
    answer = await api.client(write="*").delete("/v1/memories/m1", headers={"If-Match": '"3"'})
    assert (answer.status_code, answer.headers["etag"]) == (412, '"4"')
    assert api.memories.rows["m1"].text == "Of another writer."


async def test_a_superseded_memory_cannot_be_changed_and_can_be_deleted(api: Api):
    api.memories.put(a_memory(status="superseded"))
    client = api.client(write="*")
    assert (await client.patch("/v1/memories/m1", json={"text": "New."})).status_code == 409
    assert (await client.delete("/v1/memories/m1")).json()["change"] == "deleted"


async def test_an_undo_restores_a_deleted_memory_and_versions_list_the_whole_history(api: Api):
    client = api.client(write="*")
    address = (await client.post("/v1/memories", json=NEW)).headers["location"]
    await client.patch(address, json={"text": "User plays go."})
    await client.delete(address)
    assert (await client.get(address)).status_code == 404
    back = await client.post(f"{address}/undo")
    assert (back.status_code, back.json()["memory"]["text"]) == (200, "User plays go.")
    first = await client.post(f"{address}/undo", json={"version": 2})
    assert first.json()["memory"]["text"] == "User plays chess."
    page = (await client.get(f"{address}/versions", params={"limit": 3})).json()
    rest = (await client.get(f"{address}/versions", params={"cursor": page["next"]})).json()
    changes = [version["change"] for version in page["versions"] + rest["versions"]]
    assert changes == ["created", "updated", "deleted", "restored", "restored"]
    assert "next" not in rest


async def test_an_undo_to_an_unknown_version_is_a_conflict(api: Api):
    api.memories.put(a_memory())
    assert (await api.client(write="*").post("/v1/memories/m1/undo", json={"version": 7})).status_code == 409


async def test_a_memory_is_pinned_and_unpinned(api: Api):
    api.memories.put(a_memory())
    client = api.client(write="*")
    assert (await client.put("/v1/memories/m1/pin")).json()["memory"]["pinned"]
    assert "pinned" not in (await client.delete("/v1/memories/m1/pin")).json()["memory"]


@pytest.mark.parametrize("memory_id", ["m1%2Fpin", "m1%2fpin"])
async def test_a_memory_id_ending_in_a_pin_path_is_not_found_and_does_not_address_the_pin(api: Api, memory_id: str):
    api.memories.put(a_memory(pinned=True))
    client = api.client(write="*")
    for method in ("DELETE", "PUT"):
        assert (await client.request(method, f"/v1/memories/{memory_id}")).status_code == 404
    assert api.curation.seen == []


async def test_a_change_to_the_current_value_creates_no_version(api: Api):
    api.memories.put(a_memory(pinned=True, tags=("home",)))
    client = api.client(write="*")
    answers = [await client.put("/v1/memories/m1/pin"), await client.patch("/v1/memories/m1", json={"tags": ["home"]})]
    assert [(each.status_code, each.json()["memory"]["version"]) for each in answers] == [(200, 1)] * 2
    assert api.memories.version_rows == []
