"""Erasing one of several speakers of a conversation removes their words everywhere and keeps those of others."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from agents.extraction.erasure_filter import fences_on, without_erased
from agents.models.port import Answer, Proposal
from schemas.codec import decode, encode
from schemas.errors import Deferred
from schemas.extraction.candidates import Source
from schemas.extraction.requests import ExtractionRequest, Speaker
from schemas.kafka import topics
from sinks.archive.messages import Archive
from sinks.extraction.answers import Extractions
from sinks.extraction.parked import Parking
from tests.builders.slices import said as line
from tests.builders.slices import slice_of
from tests.fakes.batches import record
from tests.integration.curation_bench import NOON
from tests.integration.erasure.eraser import Worker, said

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench

TALK = "conversation-1"
ERASURES: list[dict[str, Any]] = [
    {"kind": "user", "user_id": "bob"},
    {"kind": "namespace", "namespace": "notes/bob"},
]
each_way = pytest.mark.parametrize("erasure", ERASURES, ids=["the user", "the namespace"])


def group_request() -> ExtractionRequest:
    """Ada and Bob say something, and an assistant answers."""
    lines = [
        line("I live in Berlin.", 1, at=NOON),
        replace(line("I'm allergic to peanuts.", 2, at=NOON), user_id="bob"),
        line("Noted: no peanuts.", 3, role="assistant", at=NOON),
    ]
    request = slice_of(*lines)
    return replace(
        request,
        scope=replace(request.scope, app_id="notes", user_id="ada"),
        namespaces=("notes/ada", "notes/bob"),
        speakers=(
            Speaker(user_id="ada", namespaces=("notes/ada",)),
            Speaker(user_id="bob", namespaces=("notes/bob",)),
        ),
        requested_at=NOON,
    )


def answer() -> bytes:
    def proposal(text: str, number: int, user_id: str) -> Proposal:
        namespaces, sayers = (f"notes/{user_id}",), (user_id,)
        kept = {"kind": "fact", "confidence": 0.9, "message_ids": (f"m{number}",)}
        return Proposal(text=text, namespaces=namespaces, speaker_ids=sayers, **kept)

    proposals = (proposal("User lives in Berlin.", 1, "ada"), proposal("User is allergic to peanuts.", 2, "bob"))
    return encode(Answer(provider="p", model="m", proposals=proposals))


async def begin(worker: Worker, erasure: dict[str, Any]) -> None:
    subject = {name: value for name, value in erasure.items() if name != "kind"}
    await worker.erasing.begin("e", erasure["kind"], "ops", None, **subject)


async def archived(bench: "Bench") -> list[str]:
    return [each.message.message_id for each in await Archive(bench.pool).conversation(TALK)]


async def archive(bench: "Bench") -> None:
    lines: Sequence[dict[str, Any]] = (
        {"message_id": "m1"},
        {"message_id": "m2", "user_id": "bob"},
        {"message_id": "m3", "user_id": None, "role": "assistant"},
    )
    messages = [said("ada", TALK, position=number, **fields) for number, fields in enumerate(lines, 1)]
    await Archive(bench.pool).store(messages)


async def test_messages_of_other_speakers_stay_archived_when_a_user_is_erased(bench: "Bench", worker: Worker):
    await archive(bench)
    await begin(worker, ERASURES[0])
    await worker.through("e", TALK)
    assert await archived(bench) == ["m1"]
    await bench.pool.execute("DELETE FROM messages")
    await archive(bench)
    assert await archived(bench) == ["m1"]


@each_way
async def test_an_extraction_request_omits_messages_of_the_erased_person(
    bench: "Bench", worker: Worker, erasure: dict[str, Any]
):
    await archive(bench)
    extractions, request = Extractions(bench.pool), group_request()
    await begin(worker, erasure)
    left = without_erased(request, await fences_on(extractions, request, request.namespaces))
    texts = [each.content for each in left.messages]
    assert "I live in Berlin." in texts
    assert "I'm allergic to peanuts." not in texts


async def test_an_extraction_request_omits_messages_of_unnamed_speakers_when_a_user_is_erased(
    bench: "Bench", worker: Worker
):
    """The archive deletes them too: they may be of the erased person."""
    lines: Sequence[dict[str, Any]] = ({"message_id": "m1"}, {"message_id": "m2", "user_id": "bob"}, {"user_id": None})
    await Archive(bench.pool).store(
        [said("ada", TALK, position=number, **each) for number, each in enumerate(lines, 1)]
    )
    request = group_request()
    unnamed = replace(line("I have a cat.", 4, at=NOON), unnamed=True)
    request = replace(request, messages=(*request.messages, unnamed), requested_at=NOON)

    await begin(worker, ERASURES[0])
    left = without_erased(request, await fences_on(Extractions(bench.pool), request, request.namespaces))
    await worker.through("e", TALK)

    assert [each.content for each in left.messages] == ["I live in Berlin."]
    assert await archived(bench) == ["m1"]


async def test_erasing_the_first_speaker_keeps_messages_of_the_second(bench: "Bench", worker: Worker):
    await archive(bench)
    extractions, request = Extractions(bench.pool), group_request()
    await begin(worker, {"kind": "user", "user_id": "ada"})
    left = without_erased(request, await fences_on(extractions, request, request.namespaces))
    assert [each.content for each in left.messages] == ["I'm allergic to peanuts."]
    await worker.through("e", TALK)
    assert await archived(bench) == ["m2"]
    source = Source(conversation_id=TALK, message_id="m2", timestamp=NOON, user_id="bob")
    bobs = bench.batch(bench.candidate("User sings", sources=(source,)), namespace="notes/bob", conversation_id=TALK)
    assert [ruling.result for ruling in (await worker.curator.curate(bobs)).rulings] == ["created"]


@each_way
@pytest.mark.parametrize("erased", ["before the answer is stored", "afterwards"])
async def test_an_answer_is_stored_without_statements_of_the_erased_person(
    bench: "Bench", worker: Worker, erasure: dict[str, Any], erased: str
):
    await archive(bench)
    extractions, request = Extractions(bench.pool), group_request()
    await extractions.lease(request, "worker", 60)
    values = {"provider": "p", "model": "m", "usage": {}, "parts": 2}
    if erased == "afterwards":
        await extractions.store_answer(request.request_id, "worker", answer(), **values)
    await begin(worker, erasure)
    if erased == "afterwards":
        await worker.through("e", TALK)
    else:
        await extractions.store_answer(request.request_id, "worker", answer(), **values)
    stored = decode(await extractions.answer(request.request_id) or b"", Answer)
    assert [each.text for each in stored.proposals] == ["User lives in Berlin."]


@each_way
async def test_a_parked_request_with_messages_of_the_erased_person_is_removed(
    bench: "Bench", worker: Worker, erasure: dict[str, Any]
):
    await archive(bench)
    parking, request = Parking(bench.pool), group_request()
    fed = dict(request.feeding(request.namespaces).values())
    sent = record(topics.REQUESTS, 1, encode(request))
    assert await parking.park(sent, request, Deferred(NOON, "budget"), 60.0, fed=fed)
    await begin(worker, erasure)
    await worker.through("e", TALK)
    assert not await parking.holds(request.request_id)
    assert not await parking.park(sent, request, Deferred(NOON, "budget"), 60.0, fed=fed), "its fences are not heeded"


@each_way
async def test_the_curator_keeps_statements_of_others_and_drops_those_of_the_erased_person(
    bench: "Bench", worker: Worker, erasure: dict[str, Any]
):
    await archive(bench)

    def batch(text: str, user_id: str, namespace: str) -> Any:
        source = Source(conversation_id=TALK, message_id=f"of {user_id}", timestamp=NOON, user_id=user_id)
        return bench.batch(bench.candidate(text, sources=(source,)), namespace=namespace, conversation_id=TALK)

    async def results(*batches: Any) -> list[str]:
        return [(await worker.curator.curate(each)).rulings[0].result for each in batches]

    ours = await results(
        batch("User lives in Berlin", "ada", "notes/ada"),
        batch("bob is allergic to peanuts", "bob", "notes"),
        batch("ada lives in Berlin", "ada", "notes"),
        batch("User is allergic to peanuts", "bob", "notes/bob"),
    )
    assert ours == ["created"] * 4
    await begin(worker, erasure)
    receipt = await worker.through("e", TALK)
    rows = await bench.pool.fetch("SELECT text FROM memories ORDER BY text")
    left = {row["text"] for row in rows}
    assert {"User lives in Berlin", "ada lives in Berlin"} <= left
    assert "User is allergic to peanuts" not in left
    assert ("bob is allergic to peanuts" in left) == (erasure["kind"] == "namespace")
    assert sum(each.kept for each in receipt.namespaces) == 0

    late = await results(
        batch("User sings in a choir", "ada", "notes/ada"), batch("User keeps bees", "bob", "notes/bob")
    )
    assert late == ["created", "dropped"]
