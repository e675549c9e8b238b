"""Lookup of memories related to a slice, and the text sent to the embedder."""

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec import structs

from agents.extraction.related import MAX_QUERY_CHARS, RelatedMemories
from schemas.extraction.candidates import Source
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy, Privacy
from sinks.vectors.port import Point
from tests.builders.groups import TEAM, group_message, slices_of
from tests.builders.slices import known, said, slice_of
from tests.fakes.embedder import FakeEmbedder, RecordingEmbedder
from tests.fakes.sinks import FakeVectors


class Shelf:
    """Memories by their ids."""

    def __init__(self, *memories: Memory) -> None:
        self._memories = {memory.memory_id: memory for memory in memories}

    async def by_ids(self, memory_ids: Sequence[str]) -> dict[str, Memory]:
        return {each: self._memories[each] for each in memory_ids}

    async def of_conversation(
        self, namespaces: Sequence[str], conversation_id: str, limit: int = 20
    ) -> tuple[Memory, ...]:
        return tuple(
            each
            for each in self._memories.values()
            if each.namespace in namespaces and any(one.conversation_id == conversation_id for one in each.sources)
        )[:limit]


async def looking_up(embedder: FakeEmbedder, *memories: Memory) -> Any:
    vectors = FakeVectors()
    rows = await embedder.embed([memory.text for memory in memories])
    await vectors.upsert([Point.of(memory, row) for memory, row in zip(memories, rows, strict=True)])
    shelf: Any = Shelf(*memories)
    return RelatedMemories(embedder, vectors, shelf)


async def test_related_memories_are_the_nearest_first_without_unrelated_ones() -> None:
    tea, cups, rome = known("User drinks green tea daily."), known("User drinks tea daily."), known("Invoices: Friday.")
    related = await looking_up(FakeEmbedder(), rome, cups, tea)
    found = await related.of(slice_of("I drink green tea daily.", said("Rome", 2, role="assistant")), Policy(name="p"))
    assert found == (tea, cups)


async def test_the_note_of_the_conversation_comes_first_under_a_note_policy() -> None:
    source = Source(conversation_id="conversation-1", message_id="m0")
    note = structs.replace(known("User bakes bread. The oven is broken."), sources=(source,))
    near = known("User drinks green tea daily.")
    related = await looking_up(FakeEmbedder(), near, note)
    request = slice_of("I drink green tea daily.")

    assert await related.of(request, Policy(name="p", note=True)) == (note, near)
    assert await related.of(request, Policy(name="p")) == (near,)


async def test_messages_of_a_speaker_look_up_only_memories_of_that_speaker_and_shared_ones() -> None:
    tea = "User drinks green tea daily."
    adas = structs.replace(known(tea, memory_id="adas"), namespace="kitchen/ada")
    bobs = structs.replace(known(tea, memory_id="bobs"), namespace="kitchen/bob")
    shared = structs.replace(known(tea, memory_id="shared"), namespace="kitchen")
    (request,) = slices_of(
        [group_message(0, "ada", "Hello."), group_message(1, "bob", "I drink green tea daily.")], TEAM
    )
    related = await looking_up(FakeEmbedder(), adas, bobs, shared)
    found = await related.of(request, TEAM)
    assert {each.memory_id for each in found} == {"bobs", "shared"}


@pytest.mark.parametrize(
    ("privacy", "sent"),
    [
        (Privacy(), "Write to anna@example.org, the password is [PASSWORD]"),
        (Privacy(scrub=("email",)), "Write to anna@example.org, the password is [PASSWORD]"),
        (Privacy(scrub=("email",), before_sending=True), "Write to [EMAIL], the password is [PASSWORD]"),
    ],
)
async def test_lookup_text_is_scrubbed_of_credentials_and_of_personal_data_per_policy_before_embedding(
    privacy: Privacy, sent: str
) -> None:
    embedder = RecordingEmbedder()
    related = await looking_up(embedder, known("User drinks tea."))
    embedder.embedded_texts.clear()
    request = slice_of("Write to anna@example.org, the password is EXAMPLE-pw1")
    await related.of(request, Policy(name="p", privacy=privacy))
    assert embedder.embedded_texts == [sent]


async def test_only_the_beginning_of_a_long_message_is_sent_to_the_embedder() -> None:
    embedder = RecordingEmbedder()
    related = await looking_up(embedder, known("User drinks tea."))
    embedder.embedded_texts.clear()
    await related.of(slice_of("x" * (MAX_QUERY_CHARS - 5) + " the password is EXAMPLE-pw1"), Policy(name="p"))
    (sent,) = embedder.embedded_texts
    assert len(sent) == MAX_QUERY_CHARS
    await related.of(slice_of("x" * (MAX_QUERY_CHARS - 25) + " the password is EXAMPLE-pw1"), Policy(name="p"))
    assert "the password is [PASS" in embedder.embedded_texts[1] and "EXAMPLE" not in embedder.embedded_texts[1]
