"""Omitted items of a context block are listed with reasons on request."""

from typing import Any

from agents.retrieval.block_left_out import MOST_LEFT_OUT
from schemas.extraction.candidates import Source
from schemas.retrieval.blocks import LONGEST_LEFT_OUT, Block
from tests.unit.retrieval.blocks import BARE, built_block, from_messages, hits, passages, said, words
from tests.unit.retrieval.conftest import MakeMemory


def explained(*given: Any, **limits: Any) -> Block:
    return built_block(*given, explain=True, **limits)


def reasons(block: Block) -> list[tuple[str, str, str]]:
    return [(each.tier, each.text, each.reason) for each in block.left_out or ()]


def test_left_out_items_are_listed_only_on_request(memory: MakeMemory):
    found = hits(memory("One."), memory("Two."))
    assert built_block(found, max_memories=1).left_out is None
    assert explained(found).left_out == ()


def test_a_memory_that_does_not_fit_is_listed_with_its_tokens(memory: MakeMemory):
    long = memory(" ".join(["long"] * 40))
    answer = explained(hits(memory("Short one."), long, memory("Short two.")), (), BARE, max_tokens=20)
    assert reasons(answer) == [("memories", long.text, "no_room")]
    (left,) = answer.left_out or ()
    assert (left.id, left.tokens) == (long.memory_id, words(long.text + "\n"))


def test_memories_beyond_the_limit_are_listed_separately_from_those_that_do_not_fit(memory: MakeMemory):
    long = memory(" ".join(["long"] * 40))
    found = hits(memory("First."), long, memory("Second."), memory("Third."))
    answer = explained(found, (), BARE, max_tokens=20, max_memories=2)
    assert reasons(answer) == [("memories", long.text, "no_room"), ("memories", "Third.", "max_memories")]


def test_a_memory_covered_by_messages_is_listed_as_known(memory: MakeMemory):
    source = (Source(conversation_id="talk", message_id="m1"),)
    found = hits(memory("From the first.", sources=source), memory("Another."))
    answer = explained(found, said(("user", "One.")), is_known=from_messages)
    assert reasons(answer) == [("memories", "From the first.", "known")]


def test_left_out_passages_are_listed_with_their_reasons(memory: MakeMemory):
    long = "The barn " + "was very large and " * 30
    earlier = passages("Bees live in the barn.", long, "Goats climb trees.", "Sheep sleep outside.")
    found = hits(memory("Bees live in the barn."))
    answer = explained(found, (), BARE, max_tokens=60, max_said=1, said_share=0.3, earlier=earlier)
    assert reasons(answer) == [
        ("said", "Bees live in the barn.", "known"),
        ("said", long[: LONGEST_LEFT_OUT - 1] + "\u2026", "no_room"),
        ("said", "Sheep sleep outside.", "max_said"),
    ]


def test_messages_without_room_are_listed_the_latest_first():
    tail = said(*(("user", f"Message {number} of ten words that are all said here.") for number in range(9)))
    answer = explained((), tail, BARE, max_tokens=60)
    left = [each.id for each in answer.left_out or ()]
    shown = [each.message_id for each in answer.messages]
    assert left and left[::-1] + shown == [each.message_id for each in tail]
    assert {(each.tier, each.reason) for each in answer.left_out or ()} == {("messages", "no_room")}


def test_the_list_of_left_out_items_is_bounded(memory: MakeMemory):
    found = hits(*(memory(f"Memory {number}.") for number in range(70)))
    assert len(explained(found, max_memories=5, max_tokens=1_000).left_out or ()) == MOST_LEFT_OUT
