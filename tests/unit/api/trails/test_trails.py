"""The trail of a message from its topic to its memories, over HTTP."""

from typing import Any

from schemas.kafka import topics
from sinks.trails.trails import ParkedTrace, PassageTrace
from tests.api import NOON, Api
from tests.builders.trails import a_change, a_trail, after, an_extraction
from tests.fakes.letter_topic import LetterRecord

TRACE = "0af7651916cd43dd8448eb211c80319c"


def said(api: Api, *, key: str = "talk-3") -> None:
    api.archive.say("talk", *[("user", f"Turn {n}.") for n in range(1, 5)], app_id="app", user_id="ada")
    headers = (("traceparent", f"00-{TRACE}-b7ad6b7169203331-01".encode()),)
    millis = int(NOON.timestamp() * 1_000)
    record = LetterRecord(
        topic=topics.MESSAGES, partition=0, offset=3, key=b"talk", value=b"{}", headers=headers, timestamp=millis
    )
    api.letter_topic.others.append(record)


async def followed(api: Api, *, message_id: str = "talk-3", **rights: str) -> Any:
    client = api.client(**(rights or {"read": "app/*"}))
    return await client.get("/v1/conversations/talk/trail", params={"message_id": message_id})


async def test_a_message_trail_lists_the_steps_from_topic_to_memories_in_order(api: Api):
    said(api)
    api.trails.known["talk", "talk-3"] = a_trail(an_extraction())
    trail = (await followed(api)).json()
    kinds = ["published", "archived", "passages", "requested", "answered", "settled", "changed", "completed"]
    assert [step["kind"] for step in trail["steps"]] == kinds
    published, *_, answered, settled, changed, _ = trail["steps"]
    assert (published["partition"], published["offset"], published["trace_id"]) == (0, 3, TRACE)
    assert (answered["model"], answered["tokens"], answered["cost_usd"]) == ("claude-haiku", 1234, 0.0025)
    assert [each["result"] for each in settled["rulings"]] == ["created", "dropped"]
    assert (changed["change"], changed["memory_id"], changed["published"]) == ("created", "m1", True)


async def test_the_trail_of_a_parked_message_has_the_reason(api: Api):
    said(api)
    parked = ParkedTrace(request_id="r1", lane="background", reason="budget", parked_at=NOON + after(1))
    api.trails.known["talk", "talk-3"] = a_trail(parked=(parked,), changes=())
    steps = (await followed(api)).json()["steps"]
    assert [(step["kind"], step.get("reason")) for step in steps][-1] == ("parked", "budget")


async def test_the_trail_of_a_failed_extraction_has_the_reason(api: Api):
    said(api)
    api.trails.known["talk", "talk-3"] = a_trail(an_extraction(reason="unanswerable"), changes=())
    steps = (await followed(api)).json()["steps"]
    assert ("failed", "unanswerable") in [(step["kind"], step.get("reason")) for step in steps]


async def test_a_message_trail_omits_steps_in_namespaces_that_the_key_may_not_read(api: Api):
    said(api)
    theirs = a_change("secret/team", text="secret", number=2)
    api.trails.known["talk", "talk-3"] = a_trail(
        an_extraction(("app/ada", "secret/team")),
        passages=(PassageTrace(namespace="secret/team", pieces=1),),
        changes=(a_change(), theirs),
    )
    answer = await followed(api)
    assert [step["memory_id"] for step in answer.json()["steps"] if step["kind"] == "changed"] == ["m1"]
    assert "secret" not in answer.text
    assert "secret" in (await followed(api, read="*")).text
    assert (await followed(api, read="other/*")).status_code == 404
    assert (await followed(api, message_id="unknown")).status_code == 404


async def test_a_message_trail_without_the_brokers_returns_the_remaining_steps(api: Api):
    said(api)
    api.trails.known["talk", "talk-3"] = a_trail(an_extraction())
    api.letter_topic.down = True
    trail = (await followed(api)).json()
    assert sorted(trail["missing"]) == ["dead_letters", "topic"]
    assert trail["steps"][0]["kind"] == "archived"


async def test_a_dead_letter_of_the_message_is_a_step_of_its_trail(api: Api):
    said(api)
    for _ in range(4):
        place = api.letter_topic.add_letter(reason="unforeseen")
    api.trails.known["talk", "talk-3"] = a_trail(changes=())
    steps = (await followed(api)).json()["steps"]
    assert [(step["letter"], step["reason"]) for step in steps if step["kind"] == "put_aside"] == [
        (place, "unforeseen")
    ]
