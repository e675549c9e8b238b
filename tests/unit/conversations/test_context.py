"""The context built from the archive equals the context of the window."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agents.conversations.context import KnownWindow, build_context
from agents.conversations.contexts import Contexts
from agents.conversations.lookup import Conversations
from agents.conversations.token_count_cache import TokenCountCache
from agents.windows.terms import WindowTerms
from schemas.conversations.contexts import ContextEntry, ContextQuery, ConversationContext, CurrentMessage
from schemas.conversations.messages import Message, Scope, ToolCall
from schemas.conversations.window_settings import WindowSettings
from schemas.conversations.windows import Gap
from schemas.errors import Rejected
from schemas.policies.matching import Match
from schemas.policies.policies import Policies, Policy
from sinks.archive.messages import ArchivedMessage
from streams.windows.context import building, gaps
from streams.windows.detectors.detect import Detected, detect_in
from streams.windows.terms import Terms
from streams.windows.tokens.accounting import Budget
from streams.windows.tokens.counting import message_tokens
from streams.windows.tokens.model_limits import ModelLimits
from streams.windows.traits import MessageTraits
from streams.windows.window import Window
from tests.fakes.archive import FakeArchive
from tests.fakes.chats import always, control, ended
from tests.fakes.message_traits import window_settings
from tests.fakes.talk import NOW
from tests.fakes.windows import FakeWindows, a_state

BEGIN = datetime.fromtimestamp(NOW, UTC) - timedelta(days=3)

NEW = KnownWindow()


def words(text: str) -> int:
    return len(text.split())


def budget(size: int = 1_000, **fields: Any) -> Budget:
    return Budget.of(WindowSettings(**fields), size)


def archived(position: int, role: str = "user", content: str = "hello there", **fields: Any) -> ArchivedMessage:
    given = {"message_id": f"m{position}", "timestamp": BEGIN + timedelta(seconds=position)} | fields
    message = Message(conversation_id="talk", role=role, content=content, **given)  # type: ignore[arg-type]
    return ArchivedMessage(message=message, partition=3, position=position)


def talk(exchanges: int, first: int = 1) -> list[ArchivedMessage]:
    return [archived(first + n, ("user", "assistant")[n % 2]) for n in range(2 * exchanges)]


def build(
    said: list[ArchivedMessage], known: KnownWindow = NEW, limits: Budget | None = None, **fields: Any
) -> ConversationContext:
    return build_context(said, known, ContextQuery(**fields), limits or budget(), words, NOW)


def shown_entries(built: ConversationContext) -> list[str]:
    return [entry.message_id or entry.content for entry in built.entries]


def test_a_small_conversation_is_shown_completely_with_metadata_of_each_message():
    system = archived(0, "system", "Be brief.")
    call = archived(3, "assistant", "", tool_calls=(ToolCall(id="t", name="clock"),))
    built = build([system, *talk(1), call, archived(4, "tool", "noon", tool_call_id="t")])
    assert shown_entries(built) == ["m0", "m1", "m2", "m3", "m4"]
    assert built.entries[0] == ContextEntry(
        role="system",
        content="Be brief.",
        tokens=5,
        position=0,
        message_id="m0",
        timestamp=system.message.timestamp,
        importance=1.0,
        reason="system_prompt",
        why="The system prompt always stays.",
    )
    assert (built.entries[3].tool_calls, built.entries[4].tool_call_id) == (call.message.tool_calls, "t")
    assert built.entries[4].importance == 0.9, "0.5, 0.2 as a tool's result, 0.4 for its place, -0.2 for two days"
    assert (built.tokens, built.statistics.total_tokens, built.limit_tokens) == (23, 23, 800)
    assert (built.statistics.messages_in_context, built.missing, built.left_out) == (5, 0, ())


def test_pruned_messages_stay_out_and_are_replaced_by_their_gap_markers():
    known = KnownWindow((Gap(2, 3, 2, 9), Gap(6, 6, 1, 3, "They greeted.", 2)), in_context=7)
    built = build(talk(5), known)
    assert shown_entries(built) == [
        *("m1", "... [2 messages removed] ...", "m4", "m5", "... [1 message removed: They greeted.] ..."),
        *("m7", "m8", "m9", "m10"),
    ]
    assert (built.statistics.pruned_messages, built.statistics.messages_in_context) == (3, 7)


def test_an_unpublished_system_prompt_comes_first_and_an_unpublished_current_message_last():
    fields = {"system": "Be brief.", "current": CurrentMessage(content="And now?", message_id="m9")}
    built = build(talk(1), **fields)
    assert shown_entries(built) == ["Be brief.", "m1", "m2", "m9"]
    assert [entry.position for entry in built.entries] == [None, 1, 2, None]
    assert shown_entries(build([*talk(1), archived(9, content="And now?")], **fields)) == [
        "Be brief.",
        "m1",
        "m2",
        "m9",
    ]
    assert shown_entries(build([], current=CurrentMessage(content="Hi."))) == ["Hi."]
    assert shown_entries(build(talk(1, first=0), **fields)) == ["Be brief.", "m0", "m1", "m9"]


def test_messages_that_exceed_max_tokens_are_left_out_with_a_reason():
    built = build(talk(20), limits=budget(1_000, strategy="rolling_window"), max_tokens=80)
    assert built.billed_tokens <= 80 == built.limit_tokens
    assert [each.message_id for each in built.left_out] == [f"m{n}" for n in range(1, 1 + len(built.left_out))]
    assert {(each.reason, each.why) for each in built.left_out} == {("oldest", "It was the oldest that could leave.")}
    assert shown_entries(built)[0] == f"... [{len(built.left_out)} messages removed] ..."
    assert build(talk(2), max_tokens=10_000).limit_tokens == 800, "a request makes no context larger"


def test_a_limit_smaller_than_the_protected_content_is_rejected_with_the_sizes():
    smallest = (
        "what is never pruned takes 29 tokens: system prompt 0, 0 protected messages 0, current message 5, markers 24"
    )
    with pytest.raises(Rejected, match=smallest) as no:
        build(talk(9), max_tokens=12)
    assert no.value.reason == "context_too_small"


def long_words(count: int) -> str:
    return " ".join(f"w{number}" for number in range(count))


def test_a_tool_result_that_does_not_fit_is_shortened_with_the_number_of_omitted_characters():
    call = archived(3, "assistant", "Let me look.", tool_calls=(ToolCall(id="t", name="read"),))
    result = archived(4, "tool", long_words(5_000), tool_call_id="t")
    built = build([*talk(1), call, result, archived(5, content=long_words(200))])
    assert shown_entries(built) == ["m1", "m2", "m3", "m4", "m5"]
    shown = built.entries[3]
    assert [entry.shortened for entry in built.entries] == [False, False, False, True, False]
    assert shown.content.startswith("w0 w1 ") and shown.content.endswith(" w4999")
    assert "characters left out] ..." in shown.content
    assert 400 < built.billed_tokens <= built.limit_tokens == 800
    assert built.statistics.total_tokens == built.billed_tokens


def test_other_long_messages_are_shortened_if_shortening_tool_results_is_not_enough():
    said = [archived(n, content=long_words(300)) for n in range(1, 11)]
    built = build([archived(0, "system", "Be brief."), *said])
    assert [entry.shortened for entry in built.entries] == [False] + [True] * 10
    assert built.entries[0].content == "Be brief.", "a system prompt is shown whole"
    assert built.billed_tokens <= built.limit_tokens


def test_messages_that_the_archive_no_longer_has_are_counted():
    known = KnownWindow((Gap(2, 3, 2, 9),), in_context=8)
    assert build([each for each in talk(5) if each.position > 4], known).missing == 2
    assert build(talk(6), known).missing == 0, "the archive may be ahead of what is known of the window"


TEXTS = (
    *("hello", "Thanks!", "Error: it failed", "No, I meant five.", "Always answer in French.", "Done, that works now."),
    *("Next task: book a flight.", "Let's start over.", "Can you write a test?", "word " * 60),
)
TURNS = st.lists(
    st.tuples(
        st.sampled_from(["user", "user", "assistant", "assistant", "tool", "system"]),
        st.sampled_from(TEXTS),
        st.sampled_from([1, 1, 60, 10_000, -300]),
        st.sampled_from(["", "", "", "prune", "clear", "end"]),
    ),
    max_size=40,
)


@settings(max_examples=150)
@given(window_settings(), st.integers(50, 1_000), TURNS, st.integers(0, 40))
def test_the_context_built_from_the_archive_equals_the_context_of_the_window(limits, model_tokens, turns, behind):
    policy = Policy(name="p", window=limits)
    terms = Terms.of(policy, Budget.of(limits, model_tokens))
    window, said, at = Window.opened("talk", 3), [], 0
    earlier = KnownWindow()
    for position, (role, text, pause, what) in enumerate(turns):
        at = max(0, at + pause)
        answers = {"tool_call_id": "c"} if role == "tool" else {}
        each = archived(position, role, text, timestamp=BEGIN + timedelta(seconds=at), **answers)
        said.append(each)
        window.add(each.message, position, message_tokens(each.message, words), always(terms), NOW)
        if what in ("prune", "clear"):
            window.control(control(what), position, terms, NOW)
        if what == "end":
            window.end(ended(timestamp=each.message.timestamp), position, 0, position, terms, NOW)
        if position == behind:
            earlier = KnownWindow(window.history.removals.gaps)
    known = KnownWindow(window.history.removals.gaps)
    try:
        own = building.build(window.history.messages_in_context(), known.gaps, terms.budget, NOW)
    except Rejected:
        assert_fits(said, known, terms.budget)
        return
    built = build(said, known, terms.budget)
    assert shown_entries(built) == [
        f"m{entry.position}" if isinstance(entry, MessageTraits) else entry.marker for entry in own.entries
    ]
    assert (built.tokens, built.billed_tokens) == (own.tokens, own.billed_tokens)
    assert_legal(said, earlier, terms.budget)


def assert_fits(said: list[ArchivedMessage], known: KnownWindow, limits: Budget) -> None:
    """Messages that exceed a window fit when shortened or left out, unless even the smallest context does not fit."""
    try:
        built = build(said, known, limits)
    except Rejected as refused:
        assert refused.reason == "context_too_small"
        assert limits.max_tokens < 64 * limits.ratio
        return
    assert built.billed_tokens <= limits.max_tokens
    assert any(entry.shortened for entry in built.entries) or any(
        each.reason == "last_resort" for each in built.left_out
    )


def assert_legal(said: list[ArchivedMessage], earlier: KnownWindow, limits: Budget) -> None:
    """A context on what was known some messages ago: within its limit, and with the latest message."""
    try:
        late = build(said, earlier, limits)
    except Rejected as refused:
        assert refused.reason == "context_too_small"
        return
    assert late.billed_tokens <= limits.max_tokens
    latest = [each.message.message_id for each in said if each.message.role != "system"][-1:]
    cleared = said and gaps.holds(earlier.gaps, said[-1].position)
    assert cleared or shown_entries(late)[-1:] == latest or said[-1].message.role == "system"


class Stage:
    """Contexts of conversations under one policy for everything, with a model of 1,000 tokens and one of 200."""

    def __init__(self) -> None:
        policies = Policies((Policy(name="all", match=Match(), window=WindowSettings(min_recent=2)),))
        terms = WindowTerms(policies, ModelLimits(1_000, {"small": 200}))
        self.archive, self.windows = FakeArchive(), FakeWindows()
        self.conversations = Conversations(self.windows, self.archive, policies)
        self.read: list[str] = []
        kept = TokenCountCache(words, detect=self._detect)
        self.contexts = Contexts(self.archive, terms, kept, lambda: datetime.fromtimestamp(NOW, UTC))

    def _detect(self, message: Message) -> Detected:
        self.read.append(message.content)
        return detect_in(message)

    async def build(self, **fields: Any) -> ConversationContext:
        conversation = await self.conversations.find("talk", lambda namespace: True)
        assert conversation is not None
        return await self.contexts.build(conversation, ContextQuery(**fields))


@pytest.fixture
def stage() -> Stage:
    return Stage()


async def test_a_conversation_without_a_stored_window_has_a_context(stage: Stage):
    stage.archive.say("talk", ("user", "Hi."), ("assistant", "Hello!"), app_id="app", user_id="ada")
    assert shown_entries(await stage.build()) == ["talk-1", "talk-2"]


async def test_the_model_determines_the_token_limit_and_a_request_can_override_the_model(stage: Stage):
    stage.archive.say("talk", ("user", "Hi."), app_id="app", user_id="ada")
    assert (await stage.build()).limit_tokens == 800
    assert (await stage.build(model="small")).limit_tokens == 160
    await stage.windows.project([a_state("talk", model="small")])
    assert (await stage.build()).limit_tokens == 160
    assert (await stage.build(model="other", max_tokens=100)).limit_tokens == 100


async def test_a_context_omits_messages_of_a_forgotten_window_and_of_another_partition(stage: Stage):
    stage.archive.say("talk", *[("user", f"Number {n}.") for n in range(1, 7)], app_id="app", user_id="ada")
    stage.archive.say("talk", ("user", "Astray."), partition=5, app_id="app", user_id="ada")
    known = a_state("talk", scope=Scope(conversation_id="talk", app_id="app", user_id="ada"))
    figures = replace(known.statistics, messages_in_context=2, total_messages=3)
    await stage.windows.project([replace(known, opened=4, gaps=(Gap(5, 5, 1, 2),), statistics=figures)])
    assert shown_entries(await stage.build()) == ["talk-4", "... [1 message removed] ...", "talk-6"]


async def test_message_traits_are_detected_once_across_repeated_requests(stage: Stage):
    said = [("user", "Error: it failed."), ("assistant", "Try again."), ("user", "Thanks!")]
    stage.archive.say("talk", *said, app_id="app", user_id="ada")
    once = await stage.build()
    assert await stage.build() == once
    conversation = await stage.conversations.find("talk", lambda namespace: True)
    assert conversation is not None
    page = await stage.archive.page("talk", beyond=None, limit=3)
    assert len(await stage.contexts.measured(conversation, page)) == 3
    assert stage.read == [content for _, content in said]
