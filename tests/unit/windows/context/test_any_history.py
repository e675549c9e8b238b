"""A context keeps its limit and exact counts for any messages and controls."""

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from schemas.conversations.windows import Calibration
from streams.windows.context.tally import Tally
from streams.windows.pruning.pruning import prune
from streams.windows.rows import rows
from streams.windows.terms import Terms
from streams.windows.tokens.accounting import Budget
from tests.fakes.chats import CONVERSATION, ended, in_context, message
from tests.fakes.message_traits import window_settings
from tests.fakes.talk import NOW, Talk, summaries

TEXTS = (
    "hello",
    "Thanks!",
    "Error: it failed",
    "No, I meant five.",
    "Always answer in French.",
    "Done, that works now.",
)
OPENINGS = ("Next task: book a flight.", "Let's start over.", "Can you write a test?")
turns = st.lists(
    st.tuples(
        st.sampled_from(["user", "user", "assistant", "assistant", "tool", "system"]),
        st.integers(0, 200),
        st.sampled_from(TEXTS + OPENINGS),
        st.sampled_from([0, 1, 60, 10_000, -300]),
        st.sampled_from(["say", "say", "say", "say", "prune", "clear", "restore", "summary", "end", "restart"]),
    ),
    max_size=40,
)


@settings(max_examples=150)
@given(window_settings(), st.integers(50, 3_000), st.booleans(), turns)
def test_any_messages_and_controls_keep_the_context_within_its_limit_and_its_counts_exact(
    limits, model_tokens, extract, turns
):
    talk, at, stored = Talk(extract, model_tokens), 0, rows.Rows()
    talk.policy = replace(talk.policy, window=replace(limits, summarise=True))
    talk.terms = Terms.of(talk.policy, Budget.of(talk.policy.window, model_tokens, Calibration(1.2, 9)))
    for role, tokens, text, pause, what in turns:
        at = max(0, at + pause)
        talk.say(role, tokens, text, at, tool_call_id="c" if role == "tool" else None)
        match what:
            case "prune" | "clear" | "restore":
                talk.control(what)
            case "summary":
                for request in summaries(talk.effects)[-1:]:
                    talk.answer(request, f"They said {talk.offset} things.", 80)
            case "end":
                event = ended(timestamp=message(at).timestamp)
                talk.note(talk.window.end(event, talk.offset, 0, talk.offset, talk.terms, NOW))
            case "restart":
                stored |= rows.save(talk.window)
                talk.window = rows.load(CONVERSATION, stored.get) or talk.window
        history, budget, tally = talk.window.history, talk.terms.budget, talk.window.head.tally
        shown = history.messages_in_context()
        assert shown == [
            entry.message_traits() for at, entry in talk.window.entries.items() if at not in history.removed
        ]
        assert tally == Tally.of(shown, history.removals.gaps)
        assert tally.account.total_messages + tally.pruned == talk.window.head.received == talk.offset
        assert [turn.position for turn in shown] == sorted(turn.position for turn in shown)
        fits = budget.billed(tally.used_tokens) <= budget.max_tokens and tally.message_count <= limits.max_messages
        assert fits or not prune(shown, history.removals.gaps, budget, NOW).removed
        if what != "clear":
            recent = [number for number in range(talk.offset) if number in talk.window.entries][-1:]
            assert set(recent) <= set(in_context(talk.window))
