"""Events applied again, in parts or across restarts give the same window, and each message is requested once."""

from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from schemas.conversations.window_settings import WindowSettings
from schemas.conversations.windows import UNDO_S
from schemas.extraction.requests import ExtractionRequest
from schemas.policies.policies import Policy
from streams.windows.context.tally import Tally
from streams.windows.rows.rows import (
    head_key,
    removals_key,
)
from streams.windows.window import Window
from tests.fakes.chats import (
    CONVERSATION,
    always,
    control,
    ended,
    in_context,
    message,
    requests_among,
    terms,
    unextracted,
)
from tests.fakes.table import Table, view

POLICY = Policy(name="small", slice_tokens=100, straggler_wait_s=30.0, late_idle_s=20.0, reask_after_s=100.0)
TERMS = terms(POLICY)
NOW = 5_000.0


class Step(NamedTuple):
    """One event; `log_end` and `read_to` as the agent would find them, `now` when it was applied."""

    event: object
    offset: int
    tokens: int
    log_end: int
    read_to: int
    now: float


TIGHT = terms(
    replace(POLICY, window=WindowSettings(max_messages=6, min_recent=2, max_tokens=500, summarise=True)),
    model_tokens=600,
)


def apply(window: Window, step: Step) -> list:
    event = step.event
    if hasattr(event, "role"):
        effects = window.add(event, step.offset, step.tokens, always(TIGHT), step.now)
        return effects + window.release(step.read_to, TIGHT, step.now)
    if hasattr(event, "message_count"):
        return window.end(event, step.offset, step.log_end, step.read_to, TIGHT, step.now)
    return window.control(event, step.offset, TIGHT, step.now, 7)


messages = st.tuples(st.just("message"), st.integers(0, 12), st.integers(0, 150))
ends = st.tuples(
    st.just("end"), st.integers(0, 3), st.sampled_from([{}, {"last_message_id": "m5"}, {"message_count": 4}])
)
controls = st.tuples(st.sampled_from(["due", "flush", "prune", "clear", "restore"]), st.just(0), st.just(0))
answers = st.tuples(st.just("answer"), st.integers(0, 5), st.booleans())
summaries = st.tuples(st.just("summary"), st.integers(0, 10), st.integers(0, 10))
events = messages | messages | messages | ends | controls | answers | summaries
plans = st.lists(st.tuples(events, st.integers(0, 40)), max_size=25)


def steps_of(plan) -> tuple[list[Step], list]:
    """Events with offsets and times, made by driving a window in memory; answers name requests it made."""
    window, steps, requests = Window.opened(CONVERSATION, 2), [], []
    offsets = {"message": 0, "end": 0, "control": 0}
    now = NOW
    for (kind, number, extra), wait in plan:
        now += wait
        family = kind if kind in offsets else "control"
        tokens, log_end = 0, 0
        if kind == "message":
            event, tokens = message(number), extra
        elif kind == "end":
            event, log_end = ended(**extra), offsets["message"] + number
        elif kind == "answer":
            known = list(dict.fromkeys(request.request_id for request in requests)) or ["unknown"]
            done = "extraction_completed" if extra else "extraction_failed"
            event = control(done, request_id=known[number % len(known)])
        elif kind == "summary":
            event = control("summarised", first=number, last=number + extra, summary=f"{number} to {number + extra}")
        else:
            event = control(kind, read_to=offsets["message"])
        offset = offsets[family]
        offsets[family] += 1
        step = Step(event, offset, tokens, log_end, offsets["message"], now)
        requests += extractions(apply(window, step))
        steps.append(step)
    return steps, requests


def extractions(effects) -> list[ExtractionRequest]:
    return [request for request in requests_among(effects) if request.purpose == "extract"]


def named(effects) -> list:
    return [(each.request_id, each.attempt) if isinstance(each, ExtractionRequest) else each for each in effects]


def in_one_go(steps) -> tuple[Window, list]:
    window, requests = Window.opened(CONVERSATION, 2), []
    for step in steps:
        requests += apply(window, step)
    return window, requests


@settings(max_examples=120)
@given(plans, st.data())
def test_a_window_saved_and_loaded_at_any_step_is_the_window_in_memory(plan, data):
    steps, _ = steps_of(plan)
    expected, requests = in_one_go(steps)
    table, sent = Table(), []
    window = table.load()
    for step in steps:
        sent += apply(window, step)
        if data.draw(st.booleans()):
            table.save(window)
            loaded = table.load()
            assert view(loaded) == view(window)
            assert loaded.head == window.head
            assert len(table.chunks) == len(window.messages.chunks.numbers) == len(loaded.messages.chunks.numbers)
            window = loaded
    assert view(window) == view(expected)
    assert named(sent) == named(requests)


@settings(max_examples=80)
@given(plans, st.data())
def test_events_applied_again_from_the_start_change_nothing(plan, data):
    steps, _ = steps_of(plan)
    expected, requests = in_one_go(steps)
    table, sent = Table(), []
    crashes = data.draw(st.lists(st.integers(0, len(steps)), max_size=2))
    for run in (*(steps[:crash] for crash in sorted(crashes)), steps, steps):
        for step in run:
            window = table.load()
            sent += apply(window, step)
            table.save(window)
    assert view(table.load()) == view(expected)
    assert named(sent) == named(requests)


@settings(max_examples=120)
@given(plans)
def test_every_message_is_requested_in_exactly_one_slice_and_is_deleted_in_the_end(plan):
    steps, _ = steps_of(plan)
    table, sent, taken = Table(), [], set()
    for step in steps:
        window = table.load()
        before = set(window.entries)
        sent += apply(window, step)
        taken |= {*window.entries, *window.history.removed} - before
        table.save(window)
    window, now = table.load(), NOW + 10_000
    sent += window.end(ended(), 1_000, 0, 1_000, TIGHT, now)
    sent += window.due(1_000, TIGHT, now + 10_000)
    table.save(window)
    slices = {request.request_id: [m.position for m in request.messages] for request in extractions(sent)}
    requested = [position for positions in slices.values() for position in positions]
    assert sorted(requested) == sorted(set(requested)), "asked for in two slices"
    assert taken <= set(requested), "never asked for"
    for offset, request_id in enumerate(slices, start=1_000):
        window.control(control("extraction_completed", request_id=request_id), offset, TIGHT, now)
        table.save(window)
    assert window.head.finished
    assert unextracted(window) == []
    assert set(window.entries) == set(in_context(window))
    tally = window.head.tally
    assert tally == Tally.of(window.history.messages_in_context(), window.history.removals.gaps)
    assert len(window.entries) + tally.pruned == window.head.received
    window.control(control("clear"), 2_000, TIGHT, now)
    window.control(control("due"), 2_001, TIGHT, now + UNDO_S)
    table.save(window)
    assert set(table.rows) == {removals_key(CONVERSATION), head_key(CONVERSATION)}
