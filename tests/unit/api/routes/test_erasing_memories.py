"""Erasing a memory over HTTP needs every right in its namespace, and returns what was deleted."""

import pytest

from schemas.erasure.receipts import Remains
from tests.api import NOON, Api, a_memory

ERASE = "/v1/memories/m1/erase"


@pytest.mark.parametrize("status", ["active", "superseded", "expired", "deleted"])
async def test_a_memory_of_any_status_is_erased_with_an_empty_body(api: Api, status: str):
    api.memories.put(a_memory(status=status))
    answer = await api.client(admin="app/*").post(ERASE)
    body = answer.json()
    assert answer.status_code == 200
    assert (body["status"], body["change"], body["memory_id"], body["namespace"]) == (
        *("accepted", "purged", "m1"),
        "app/ada",
    )
    assert (body["erased"]["memories"], body["erased"]["messages_hidden"]) == (1, True)
    assert "erasure_id" not in body, "the erasure of one memory has no receipt"
    (command,) = api.curation.seen
    assert (command.kind, command.namespace, command.memory_id, command.keep_messages) == (
        *("erase", "app/ada", "m1"),
        False,
    )


async def test_messages_are_kept_on_request_and_the_reason_is_passed_on(api: Api):
    api.memories.put(a_memory())
    body = {"keep_messages": True, "reason": "as asked"}
    answer = await api.client(admin="app/*").post(ERASE, json=body)
    assert answer.json()["erased"]["messages_hidden"] is False
    assert (api.curation.seen[0].keep_messages, api.curation.seen[0].reason) == (True, "as asked")
    assert (await api.client(admin="app/*").post(ERASE, json={"keep": True})).status_code == 422


async def test_a_key_that_may_only_write_is_refused_and_one_of_another_namespace_learns_nothing(api: Api):
    api.memories.put(a_memory())
    assert (await api.client(write="app/*").post(ERASE)).status_code == 403
    foreign = api.client(admin="other/*")
    assert (await foreign.post(ERASE)).status_code == 404
    assert api.curation.seen == []
    await api.client(admin="app/*").post(ERASE)
    erased, unknown = await foreign.post(ERASE), await foreign.post("/v1/memories/unknown/erase")
    assert (erased.status_code, erased.json()["detail"]) == (404, "there is no memory 'm1'")
    assert (unknown.status_code, unknown.json()["detail"]) == (404, "there is no memory 'unknown'")
    assert (await api.client(write="app/*").post(ERASE)).status_code == 403


async def test_a_repetition_is_answered_and_an_unknown_memory_is_not_found(api: Api):
    api.memories.put(a_memory())
    client, key = api.client(admin="*"), {"Idempotency-Key": "k1"}
    first = await client.post(ERASE, headers=key)
    assert (await client.post(ERASE, headers=key)).json() == first.json()
    again = await client.post(ERASE)
    assert (again.status_code, again.json()["reason"]) == (200, "memory m1 was erased before")
    assert "change" not in again.json()
    assert (await client.post("/v1/memories/m2/erase")).status_code == 404
    assert (await client.post("/v1/memories/m1/undo")).status_code == 404


async def test_a_changed_memory_is_not_erased_for_a_stale_etag(api: Api):
    api.memories.put(a_memory(version=3))
    client = api.client(admin="*")
    stale = await client.post(ERASE, headers={"If-Match": '"2"'})
    assert (stale.status_code, stale.headers["etag"]) == (412, '"3"')
    assert (await client.post(ERASE, headers={"If-Match": '"3"'})).status_code == 200


async def test_an_erasure_that_takes_long_is_pending_and_its_outcome_lists_what_remains(api: Api):
    api.memories.put(a_memory())
    api.curation.late = True
    client = api.client(admin="*")
    pending = await client.post(ERASE)
    assert (pending.status_code, pending.json()["status"]) == (202, "pending")
    api.curation.late = False
    (command,) = api.curation.seen
    remains = (Remains(topic="memory.events", holds="texts", because="retention.ms=1", until=NOON, code="events"),)
    api.curation.remains = remains
    await api.curation.send_and_wait(command)
    outcome = (await client.get(pending.headers["location"])).json()
    assert outcome["erased"]["remains"][0]["topic"] == "memory.events"
