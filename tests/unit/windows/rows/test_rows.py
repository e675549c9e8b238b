"""Windows are saved as rows and loaded unchanged, at a cost independent of the window's size."""

import json

import pytest
from msgspec.structs import replace

from schemas import codec
from schemas.conversations.messages import Message, ToolCall
from schemas.extraction.requests import ExtractionRequest
from schemas.policies.policies import Policy
from streams.kafka.topics import TopicSettings
from streams.windows.rows import rows
from streams.windows.rows.head import Head, HeldEnd, PendingRequest, WindowErasure
from streams.windows.rows.rows import (
    CHUNK_BYTES,
    CHUNKS,
    MAX_SPAN,
    MIN_SPAN,
    SEPARATOR,
    chunk_key,
    head_key,
    is_head,
    removals_key,
)
from streams.windows.window import Window
from tests.fakes.chats import CONVERSATION, always, control, ended, message, terms
from tests.fakes.table import Table, view
from tests.unit.windows.one_window import clear_for_good

POLICY = Policy(name="small", slice_tokens=100, straggler_wait_s=30.0, late_idle_s=20.0, reask_after_s=100.0)
TERMS = terms(POLICY)
NOW = 5_000.0


def filled(table: Table, *batches: range) -> Window:
    """A window that got each range of messages in a batch of its own."""
    window = table.load()
    for numbers in batches:
        for number in numbers:
            window.add(message(number), number, 10, always(TERMS), NOW)
        table.save(window)
    return window


def answer(window: Window, request, offset: int) -> None:
    window.control(control("extraction_completed", request_id=request.request_id), offset, TERMS, NOW)


def test_load_returns_none_without_rows():
    assert rows.load(CONVERSATION, {}.get) is None


def test_a_loaded_window_is_the_one_that_was_saved():
    table = Table()
    window = filled(table, range(3), range(3, 5))
    window.end(ended(last_message_id="later"), 7, 0, 9, TERMS, NOW)
    table.save(window)
    loaded = table.load()
    assert loaded.head == window.head
    assert loaded.entries == window.entries
    assert not loaded.add(message(4), 99, 10, always(TERMS), NOW)


def test_each_batch_is_written_once_as_a_chunk_before_the_head():
    table = Table()
    window = filled(table, range(3))
    window.add(message(3), 3, 10, always(TERMS), NOW)
    changed = table.save(window)
    assert list(changed) == [chunk_key(CONVERSATION, 1), head_key(CONVERSATION)]
    assert list(table.save(window)) == [head_key(CONVERSATION)]


def test_chunks_without_remaining_messages_are_deleted_after_the_head_is_written():
    table = Table()
    window = filled(table, range(3), range(3, 6))
    (request,) = window.control(control("flush"), 0, TERMS, NOW)
    answer(window, request, 1)
    assert list(table.save(window)) == [head_key(CONVERSATION)]
    clear_for_good(window, 2)
    changed = list(table.save(window))
    assert changed[:2] == [removals_key(CONVERSATION), head_key(CONVERSATION)]
    assert changed[2:] == [chunk_key(CONVERSATION, 0), chunk_key(CONVERSATION, 1)]
    assert table.chunks == []
    assert window.head.first_chunk == window.head.next_chunk


def test_a_chunk_with_some_remaining_messages_stays_and_loads_only_those():
    table = Table()
    window = filled(table, range(12))
    first, second = window.control(control("flush"), 0, TERMS, NOW)
    clear_for_good(window, 1)
    answer(window, first, 3)
    table.save(window)
    assert len(table.chunks) == 1
    assert list(table.load().entries) == [10, 11]
    window = table.load()
    answer(window, second, 4)
    table.save(window)
    assert table.chunks == []


def test_the_tombstone_of_a_window_deletes_all_its_rows():
    table = Table()
    window = filled(table, range(3))
    (request,) = window.control(control("flush"), 0, TERMS, NOW)
    answer(window, request, 1)
    window.add(message(9), 9, 10, always(TERMS), NOW)
    window.control(control("prune"), 2, TERMS, NOW)
    clear_for_good(window, 3)
    table.save(window)
    assert len(table.rows) == 3
    table.apply(rows.tombstone(window))
    assert table.rows == {}


def test_a_large_batch_is_split_into_chunk_rows_of_bounded_size():
    table = Table()
    window = table.load()
    for number in range(4):
        window.add(message(number, "x" * (CHUNK_BYTES * 2 // 5)), number, 10, always(TERMS), NOW)
    table.save(window)
    assert len(table.chunks) == 2
    assert table.load().entries == window.entries


def test_the_size_of_a_row_is_bounded_in_bytes_not_in_characters():
    table = Table()
    window = table.load()
    for number in range(4):
        window.add(message(number, "語" * (CHUNK_BYTES // 4)), number, 10, always(TERMS), NOW)
    table.save(window)
    assert max(len(table.rows[key]) for key in table.chunks) <= CHUNK_BYTES * 1.1


def test_the_arguments_of_tool_calls_count_towards_the_size_of_a_row():
    calls = (ToolCall(id="call", name="tool", arguments={"text": "x" * 600_000}),)
    table = Table()
    window = table.load()
    for number in range(8):
        window.add(message(number, "", role="assistant", tool_calls=calls), number, 10, always(TERMS), NOW)
    table.save(window)
    assert max(len(table.rows[key]) for key in table.chunks) <= TopicSettings().own_message_bytes


def test_a_message_larger_than_the_chunk_size_gets_a_chunk_of_its_own():
    table = Table()
    window = table.load()
    for number, length in enumerate((10, CHUNK_BYTES + 1, 10)):
        window.add(message(number, "x" * length), number, 10, always(TERMS), NOW)
    table.save(window)
    assert window.messages.chunks.numbers == {0: 1, 1: 1, 2: 1}


@pytest.mark.parametrize("name", ["plain", "nul\x00inside", 'quo"te', "ünï", "a/b", " ", "\x00"])
def test_head_keys_and_chunk_keys_are_distinguishable_for_any_conversation_id(name):
    assert is_head(head_key(name))
    assert not is_head(chunk_key(name, 7))
    assert chunk_key(name, 7).startswith(CHUNKS + head_key(name) + SEPARATOR)


def test_the_head_of_every_window_of_a_partition_is_found_among_its_rows():
    stored: dict[bytes, bytes] = {}
    for name in ("one", "two\x00", "three"):
        window = Window.opened(name, 2)
        window.add(replace(message(1), conversation_id=name), 1, 10, always(TERMS), NOW)
        stored |= {key: value for key, value in rows.save(window).items() if value is not None}
    assert sorted(
        head.scope.conversation_id
        for head in rows.heads(lambda prefix: [row for row in stored.items() if row[0].startswith(prefix)])
    ) == ["one", "three", "two\x00"]


def cost_of_messages(before: int, after: int, at_once: int = 1) -> float:
    """Bytes written for a message, on average, while a window grows from so many messages to so many."""
    table = Table()
    filled(table, *(range(number, number + at_once) for number in range(0, before, at_once)))
    written = table.written
    filled(table, *(range(number, number + at_once) for number in range(before, after, at_once)))
    return (table.written - written) / (after - before)


@pytest.mark.parametrize("at_once", [1, 8])
def test_the_bytes_written_for_a_message_do_not_grow_with_the_window(at_once):
    short, long = cost_of_messages(16, 32, at_once), cost_of_messages(480, 512, at_once)
    assert long <= 1.3 * short, f"{short} bytes in a window of 20 messages, {long} in one of 500"


def test_the_bytes_written_for_many_messages_grow_with_their_number_only():
    short, long = cost_of_messages(16, 32), cost_of_messages(0, 12_000)
    assert long <= 2 * short, f"{short:.0f} bytes a message in a window of 20, {long:.0f} in one of 12,000"


def pruned_one_by_one(table: Table, count: int) -> Window:
    """A conversation without extraction, whose messages come alone and leave once they are pruned."""
    forgetting = terms(replace(POLICY, extract=False))
    window = table.load()
    for number in range(count):
        window.add(message(number), number, 10, always(forgetting), NOW)
        table.save(window)
    return window


def test_a_window_that_keeps_few_of_many_messages_has_few_chunks_and_a_narrow_chunk_range():
    table = Table()
    window = table.load()
    window.add(message(0, role="system"), 0, 10, always(TERMS), NOW)
    table.save(window)
    forgetting = terms(replace(POLICY, extract=False))
    for number in range(1, 5_000):
        window.add(message(number), number, 10, always(forgetting), NOW)
        table.save(window)
        assert window.head.next_chunk - window.head.first_chunk <= MIN_SPAN + 1
        assert len(window.head.listed_chunks) <= 10
    assert len(table.chunks) == len(window.messages.chunks.numbers) <= 60
    assert view(table.load()) == view(window)


def test_folding_chunks_writes_few_bytes_if_most_messages_were_removed():
    table = Table()
    pruned_one_by_one(table, 2_000)
    short = cost_of_messages(16, 32)
    assert table.written / 2_000 <= 1.5 * short


def test_load_raises_if_a_chunk_row_is_missing():
    table = Table()
    filled(table, range(3), range(3, 6))
    del table.rows[chunk_key(CONVERSATION, 1)]
    with pytest.raises(RuntimeError, match="missing"):
        table.load()


HOSTILE_ARGUMENTS = [
    "[" * 90 + "]" * 90,
    "1" + "0" * 400,
    "18446744073709551617",
    '{"\\u0000": "\\ud83d\\ude00", "a": 1e308}',
]


@pytest.mark.parametrize("arguments", HOSTILE_ARGUMENTS)
def test_every_admitted_tool_argument_can_be_stored_in_rows_and_requests_and_decoded_again(arguments: str):
    """Nested as deeply as may come in, integers of any length: our own rows around it must not be refused."""
    table, window = Table(), Window.opened(CONVERSATION, 0)
    for number in range(60):
        text = codec.encode(message(number, "x", role="assistant")).decode()
        said = text[:-1] + ',"tool_calls":[{"id":"1","name":"n","arguments":' + arguments + "}]}"
        window.add(codec.decode_untrusted(said.encode(), Message), number, 10, always(TERMS), NOW)
    table.save(window)
    loaded = rows.load(CONVERSATION, table.rows.get)
    assert loaded is not None
    assert loaded.entries == window.entries
    for request in loaded.control(control("flush"), 0, TERMS, NOW):
        assert codec.decode(codec.encode(request), ExtractionRequest) == request


def test_folding_chunks_does_not_rewrite_large_messages():
    """Chunks of them are too large to be folded; the head lists them."""
    table, window = Table(), Window.opened(CONVERSATION, 0)
    costs = []
    for number in range(MAX_SPAN + 3):
        before = table.written
        window.add(message(number, "x" * (40_000 if number % 64 == 0 else 10)), number, 10, always(TERMS), NOW)
        table.save(window)
        costs.append(table.written - before)
    assert sum(costs[:-2]) < 40_000 * 66 + MAX_SPAN * 800
    assert len(window.head.listed_chunks) > MAX_SPAN // 64
    assert max(costs) < 2_000_000
    assert view(table.load()) == view(window)


def test_a_head_written_by_an_earlier_version_is_decoded_and_keeps_its_stored_field_names():
    row = (
        b'{"scope":{"conversation_id":"c","user_id":"ada"},"partition":1,"applied":{"chat.messages":9},"sealed":[2],"first_row":3,'
        b'"next_row":5,"cut_to":7,"asked":[["r",1,6,2,9.5,true,false]],"wanted":true,"held":[8,4.0,"m8",null,3.0],"ended":true,'
        b'"ended_at":3.0,"resumed":true,"received":8,"opened":1,"waiting_since":1.0,"heard_at":2.0,"touched_at":2.5,"prunings":1,'
        b'"warned":"warning","erased":[1.5,4],"others":["bob"],"people":["eve"],"partly":{"eve":[1.0,2]}}'
    )
    head = codec.decode(row, Head)
    assert (head.listed_chunks, head.first_chunk, head.next_chunk, head.requested_to) == ([2], 3, 5, 7)
    assert (head.pending, head.at_request_limit) == ([PendingRequest("r", 1, 6, 2, 9.5, True, False)], True)
    assert head.held_end == HeldEnd(8, 4.0, "m8", None, 3.0)
    assert (head.first_position, head.last_message_at, head.changed_at, head.warned_level) == (1, 2.0, 2.5, "warning")
    assert (head.last_erasure, head.user_erasures) == (WindowErasure(1.5, 4), {"eve": WindowErasure(1.0, 2)})
    assert (head.unattributed_speakers, head.other_speakers) == (["bob"], ["eve"])
    written = json.loads(codec.encode(head))
    del written["tally"]
    assert written == json.loads(row)
