"""Results of changes over HTTP that are late, rejected or cannot be sent; undo of wishes."""

from msgspec.structs import replace

from agents.curation.rules.ledger.outcomes import Outcome
from tests.api import Api, a_memory

NEW = {"namespace": "app/ada", "text": "User plays chess."}


async def test_the_result_of_a_slow_command_is_available_later_at_its_location(api: Api):
    api.curation.late = True
    client = api.client(write="*")
    answer = await client.post("/v1/memories", json=NEW | {"namespace": "app/ada & bob"})
    assert (answer.status_code, answer.json()["status"]) == (202, "pending")
    address = answer.headers["location"]
    waiting = await client.get(address)
    assert (waiting.status_code, waiting.json(), waiting.headers["retry-after"]) == (200, answer.json(), "1")
    api.curation.late = False
    await api.curation.send_and_wait(api.curation.seen[0])
    settled = (await client.get(address)).json()
    assert (settled["status"], settled["memory"]["text"]) == ("accepted", "User plays chess.")


async def test_a_rejected_command_reports_its_reason_at_its_address_too(api: Api):
    api.memories.put(a_memory())
    client = api.client(write="*")
    api.curation.before = lambda: api.memories.rows.clear()
    answer = await client.delete("/v1/memories/m1")
    assert (answer.status_code, answer.json()["type"]) == (409, "urn:memstream:problem:conflict")
    command = api.curation.seen[0]
    later = await client.get(f"/v1/commands/{command.command_id}", params={"namespace": "app/ada"})
    assert (later.json()["status"], later.json()["reason"]) == ("rejected", answer.json()["detail"])


async def test_the_result_of_a_command_omits_a_memory_that_now_belongs_to_another_namespace(api: Api):
    client = api.client(write="app/ada")
    keyed = {"Idempotency-Key": "k"}
    made = (await client.post("/v1/memories", json=NEW, headers=keyed)).json()
    there = api.memories.rows[made["memory_id"]]
    api.memories.put(replace(there, namespace="app/bob", text="Bob's."))  # as after an erasure and an import
    later = await client.get(f"/v1/commands/{made['command_id']}", params={"namespace": "app/ada"})
    again = await client.post("/v1/memories", json=NEW, headers=keyed)
    assert [response.json()["status"] for response in (later, again)] == ["accepted"] * 2
    assert "Bob" not in later.text + again.text + str(again.headers)


async def test_creating_a_memory_during_a_kafka_outage_returns_503(api: Api):
    api.curation.down = True
    assert (await api.client(write="*").post("/v1/memories", json=NEW)).status_code == 503


async def test_a_reason_of_a_deletion_is_kept(api: Api):
    api.memories.put(replace(a_memory(), version=1))
    await api.client(write="*").delete("/v1/memories/m1", params={"reason": "wrong"})
    assert api.memories.version_rows[-1].cause.reason == "wrong"


async def test_a_standing_wish_without_a_memory_is_undone_by_its_id_and_namespace(api: Api):
    headers = {"Idempotency-Key": "once"}
    client = api.client(write="app/*")
    await client.post("/v1/wishes/w1/undo", json={"namespace": "app/ada"}, headers=headers)
    (command,) = api.curation.seen
    accepted = Outcome(status="accepted", namespace="app/ada", sequence=4, digest=command.digest)
    api.curation.outcomes["app/ada", command.command_id] = accepted
    answer = await client.post("/v1/wishes/w1/undo", json={"namespace": "app/ada"}, headers=headers)
    assert (answer.status_code, answer.json()["status"]) == (200, "accepted")
    assert (command.kind, command.namespace, command.memory_id) == ("undo", "app/ada", "w1")


async def test_undoing_an_unknown_standing_wish_is_a_conflict(api: Api):
    undone = await api.client(write="app/*").post("/v1/wishes/w1/undo", json={"namespace": "app/ada"})
    assert undone.status_code == 409
