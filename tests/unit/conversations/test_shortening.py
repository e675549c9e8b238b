"""A context is always returned: texts without room are shortened, marked or left out with a reason."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.conversations.context import KnownWindow, build_context
from schemas.conversations.contexts import ContextQuery, ConversationContext
from schemas.conversations.messages import Message, ToolCall
from schemas.conversations.window_settings import WindowSettings
from schemas.errors import Rejected
from sinks.archive.messages import ArchivedMessage
from streams.windows.tokens.accounting import Budget
from tests.fakes.talk import NOW

BEGIN = datetime.fromtimestamp(NOW, UTC) - timedelta(hours=1)
LEAST = 64  # tokens of a prompt, a marker and a question, or a few more


def tokens(text: str) -> int:
    return -(-len(text) // 4)


def said(position: int, role: str, content: str = "", **fields: Any) -> ArchivedMessage:
    message = Message(
        conversation_id="talk",
        message_id=f"m{position}",
        role=role,  # type: ignore[arg-type]
        timestamp=BEGIN + timedelta(seconds=position),
        content=content,
        **fields,
    )
    return ArchivedMessage(message=message, partition=0, position=position)


def called(position: int, arguments: Any, call: str = "t") -> ArchivedMessage:
    return said(position, "assistant", tool_calls=(ToolCall(id=call, name="write_file", arguments=arguments),))


def build(messages: list[ArchivedMessage], size: int = 16_384, **fields: Any) -> ConversationContext:
    budget = Budget.of(WindowSettings(), size)
    built = build_context(messages, KnownWindow(), ContextQuery(**fields), budget, tokens, NOW)
    assert built.billed_tokens <= built.limit_tokens
    return built


def writing(arguments: Any) -> list[ArchivedMessage]:
    return [
        said(0, "user", "Write the file."),
        called(1, arguments),
        said(2, "tool", "written", tool_call_id="t"),
        said(3, "user", "thanks"),
    ]


def shown_arguments(built: ConversationContext) -> Any:
    assert [entry.shortened for entry in built.entries] == [False, True, False, False]
    return built.entries[1].tool_calls[0].arguments


def test_tool_call_arguments_that_do_not_fit_have_their_long_strings_shortened():
    text = "".join(f"line {number}\n" for number in range(7_000))
    messages = writing({"path": "notes.txt", "content": text, "mode": 420})
    arguments = shown_arguments(built := build(messages))
    assert (arguments["path"], arguments["mode"]) == ("notes.txt", 420)
    assert arguments["content"].startswith("line 0\n") and arguments["content"].endswith("line 6999\n")
    assert "characters left out] ..." in arguments["content"]
    assert built.billed_tokens > 0.95 * built.limit_tokens, "no more is cut than has to be"
    assert messages[1].message.tool_calls[0].arguments["content"] == text, "the archive's copy stays whole"


def test_shortened_arguments_given_as_a_json_string_stay_valid_json():
    arguments = shown_arguments(build(writing(json.dumps({"path": "notes.txt", "content": 'say "hi"\n' * 9_000}))))
    inner = json.loads(arguments)
    assert inner["path"] == "notes.txt" and "characters left out] ..." in inner["content"]


@pytest.mark.parametrize("arguments", [list(range(30_000)), {f"key {n}": n for n in range(9_000)}, [["ab"] * 30_000]])
def test_arguments_without_long_strings_are_shown_by_their_beginning_and_their_end(arguments):
    shown = shown_arguments(build(writing(arguments)))
    whole = json.dumps(arguments, separators=(",", ":"))
    assert whole.startswith(shown["..."][:500]) and whole.endswith(shown["..."][-500:])
    assert "characters left out] ..." in shown["..."]


def test_arguments_given_as_a_string_that_is_no_json_are_truncated():
    assert "characters left out] ..." in shown_arguments(build(writing("{" + "x" * 90_000)))


@pytest.mark.parametrize("published", [True, False])
def test_a_system_prompt_larger_than_the_limit_is_shortened_in_the_middle(published):
    prompt = "Be brief. " + "Mind the rules. " * 9_000 + "Never delete files."
    talk = [said(n, ("assistant", "user")[n % 2], "hello there") for n in range(1, 6)]
    built = build([said(0, "system", prompt), *talk]) if published else build(talk, system=prompt)
    assert [entry.shortened for entry in built.entries] == [True] + [False] * 5
    content = built.entries[0].content
    assert content.startswith("Be brief. ") and content.endswith("Never delete files.")
    assert "characters left out] ..." in content


def test_a_system_prompt_stays_complete_if_shortening_messages_makes_enough_room():
    prompt = "Mind the rules. " * 2_000
    talk = [said(n, ("assistant", "user")[n % 2], "word " * 2_000) for n in range(1, 11)]
    built = build([said(0, "system", prompt), *talk])
    assert [entry.shortened for entry in built.entries] == [False] + [True] * 10


def test_the_oldest_messages_are_left_out_if_shortening_is_not_enough():
    talk = [said(n, ("user", "assistant")[n % 2], f"number {n} " * 100) for n in range(20)]
    built = build([*talk, said(20, "user", "And now? " * 100)], max_tokens=300)
    contents = [entry.content for entry in built.entries]
    left_out = [each.message_id for each in built.left_out]
    assert left_out == [f"m{n}" for n in range(len(left_out))] and 10 < len(left_out) < 20
    assert contents[0] == f"... [{len(left_out)} messages removed] ..." and contents[-1].startswith("And now? ")
    assert {each.reason for each in built.left_out[11:]} == {"last_resort"}
    assert {entry.reason for entry in built.entries[1:]} == {"recent"}


def test_a_tool_call_and_its_results_are_left_out_only_together():
    steps = [
        each
        for n in range(1, 21, 2)
        for each in (called(n, {"text": "x" * 900}, f"c{n}"), said(n + 1, "tool", "y" * 900, tool_call_id=f"c{n}"))
    ]
    built = build([said(0, "user", "Go on."), *steps], max_tokens=250)
    calls = {call.id for entry in built.entries for call in entry.tool_calls}
    assert calls == {entry.tool_call_id for entry in built.entries if entry.tool_call_id} and calls
    assert "c19" in calls, "the oldest leave first"


def test_a_limit_too_small_for_the_latest_message_is_rejected_with_the_minimal_sizes():
    talk = [said(0, "system", "Be brief. " * 900), *(said(n, "user", "hello " * 900) for n in range(1, 9))]
    assert [entry.role for entry in build(talk, max_tokens=LEAST).entries] == ["system", "marker", "user"]
    with pytest.raises(
        Rejected, match=r"system prompt \d\d, 0 protected messages 0, current message \d\d, markers 12"
    ) as no:
        build(talk, max_tokens=30)
    assert (no.value.reason, "min_recent" in no.value.detail) == ("context_too_small", False)


def test_tool_definitions_that_leave_no_room_for_messages_are_named_in_the_rejection():
    tool = {"name": "write_file", "description": "word " * 400}
    with pytest.raises(Rejected, match=r"Definitions of tools take 5\d\d of the 500 tokens"):
        build([said(0, "user", "hello")], max_tokens=500, tools=(tool,))


TEXTS = st.sampled_from(["", "hello", "hello there " * 30, "x" * 5_000, "tidy\n" * 20_000, "\u4f60\u597d" * 400])
ARGUMENTS = st.recursive(
    st.none() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
STEPS = st.lists(
    st.tuples(st.sampled_from(["user", "assistant", "call", "tool", "system"]), TEXTS, ARGUMENTS),
    min_size=1,
    max_size=25,
)


@settings(max_examples=150, deadline=None)
@given(STEPS, st.integers(2 * LEAST, 3_000))
def test_a_context_exists_for_any_conversation_and_limit_and_keeps_the_latest_user_message(steps, limit):
    messages, open_call = [], "none"
    for position, (role, text, arguments) in enumerate(steps):
        if role == "call":
            open_call = f"c{position}"
            messages.append(called(position, arguments, open_call))
        else:
            answers = {"tool_call_id": open_call} if role == "tool" else {}
            messages.append(said(position, role, text, **answers))
    built = build(messages, max_tokens=limit)
    latest = [each.message for each in messages if each.message.role == "user"][-1:]
    left = {each.message_id for each in built.left_out if each.reason == "last_resort"}
    assert not {message.message_id for message in latest} & left
    entries = {entry.message_id: entry for entry in built.entries if entry.message_id}
    assert entries.keys() | {each.message_id for each in built.left_out} == {
        each.message.message_id for each in messages
    }
    for each in messages:
        if (entry := entries.get(each.message.message_id)) is not None and not entry.shortened:
            assert (entry.content, entry.tool_calls) == (each.message.content, each.message.tool_calls)
