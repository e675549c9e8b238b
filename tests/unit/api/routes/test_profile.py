"""The profile over HTTP: with a context block, and alone."""

from msgspec.structs import replace

from schemas.extraction.candidates import Source
from tests.api import Api, a_memory
from tests.unit.retrieval.blocks import passages

PEANUTS = a_memory("m-nuts", text="User is allergic to peanuts.")
WISH = a_memory("m-wish", text="User wants the assistant to always answer in German.")
GHENT = a_memory("m-home")
COOK = {"namespaces": ["app/ada"], "text": "What should I cook tonight?"}


async def test_the_profile_of_a_context_has_all_constraints_and_wishes_whatever_the_query(api: Api):
    api.memories.put(PEANUTS, WISH, GHENT)
    answer = (await api.client(read="app/*").post("/v1/context", json=COOK)).json()
    assert answer["text"] == "", "the search found nothing"
    assert "- User is allergic to peanuts." in answer["profile"]["text"]
    assert "- User wants the assistant to always answer in German." in answer["profile"]["text"]
    assert {each["memory_ids"][0] for each in answer["profile"]["lines"]} == {"m-nuts", "m-wish"}


async def test_a_context_block_returned_with_a_profile_does_not_repeat_the_profile(api: Api):
    api.memories.put(PEANUTS, GHENT)
    api.searched.memories = [PEANUTS, GHENT]
    client = api.client(read="app/*")
    beside = (await client.post("/v1/context", json=COOK | {"profile": True})).json()
    assert ("peanuts" in beside["text"], "Ghent" in beside["text"]) == (False, True)
    alone = (await client.post("/v1/context", json=COOK)).json()
    assert ("peanuts" in alone["text"], "Ghent" in alone["text"]) == (True, True), "who knows no profile loses nothing"


async def test_a_passage_that_repeats_the_profile_of_the_prompt_is_not_in_its_block(api: Api):
    said = passages("I'm allergic to peanuts since May.", "Always answer in German.", "I cook on Fridays.")
    api.searched.said = [replace(hit, owners=("app/ada",)) for hit in said]
    nuts = replace(PEANUTS, sources=(Source(conversation_id="trip", message_id="trip-1"),))
    api.memories.put(nuts, WISH)
    api.searched.memories = [nuts]
    client = api.client(read="app/*")
    beside = (await client.post("/v1/context", json=COOK | {"profile": True, "explain": True})).json()
    assert [each["text"] for each in beside["said"]] == ["I cook on Fridays."]
    reasons = {each["text"]: each["reason"] for each in beside["left_out"] if each["tier"] == "said"}
    assert set(reasons.values()) == {"known"} and len(reasons) == 2
    alone = (await client.post("/v1/context", json=COOK | {"max_memories": 0})).json()
    assert len(alone["said"]) == 3, "who knows no profile loses nothing"


async def test_a_profile_of_the_version_known_to_the_caller_is_returned_without_its_text(api: Api):
    api.memories.put(PEANUTS)
    api.searched.memories = [PEANUTS, GHENT]
    client = api.client(read="app/*")
    version = (await client.post("/v1/context", json=COOK)).json()["profile"]["version"]
    again = (await client.post("/v1/context", json=COOK | {"profile_version": version})).json()
    assert (again["profile"]["unchanged"], again["profile"]["text"], again["profile"]["lines"]) == (True, "", [])
    assert "peanuts" not in again["text"]
    api.memories.put(WISH)
    changed = (await client.post("/v1/context", json=COOK | {"profile_version": version})).json()["profile"]
    assert (changed["unchanged"], changed["version"] != version, len(changed["lines"])) == (False, True, 2)


async def test_a_context_request_without_profile_builds_none(api: Api):
    api.memories.put(PEANUTS)
    answer = (await api.client(read="app/*").post("/v1/context", json=COOK | {"profile": False})).json()
    assert (answer["profile"], api.live.reads) == (None, [])


async def test_the_profile_endpoint_supports_etag_revalidation(api: Api):
    api.memories.put(PEANUTS)
    client = api.client(read="app/*")
    first = await client.get("/v1/profile", params={"namespace": "app/ada"})
    assert (first.status_code, first.headers["ETag"]) == (200, f'"{first.json()["version"]}"')
    headers = {"If-None-Match": f'"other", W/{first.headers["ETag"]}'}
    again = await client.get("/v1/profile", params={"namespace": "app/ada"}, headers=headers)
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", first.headers["ETag"])
    api.memories.put(WISH)
    changed = await client.get("/v1/profile", params={"namespace": "app/ada"}, headers=headers)
    assert (changed.status_code, "German" in changed.json()["text"]) == (200, True)


async def test_a_profile_needs_the_right_to_read_its_namespace(api: Api):
    refused = await api.client(read="app/*").get("/v1/profile", params={"namespace": "other/eve"})
    assert (refused.status_code, api.live.reads) == (403, [])
