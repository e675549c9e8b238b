"""Builds a conversation's context from the archive by the rules of windows."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct, field, structs

from agents.conversations.shortening import Texts, shortened, with_texts
from schemas import codec
from schemas.conversations.adjustments import Adjustments
from schemas.conversations.contexts import ContextEntry, ContextQuery, ConversationContext, OmittedMessage
from schemas.conversations.messages import Message
from schemas.conversations.windows import Gap, LastPrune, Reason, WindowState
from schemas.errors import Rejected
from sinks.archive.messages import ArchivedMessage
from streams.windows.arrival import arrived
from streams.windows.context import building, gaps, statistics
from streams.windows.detectors.detect import detect_in
from streams.windows.marks import weighed
from streams.windows.pruning import importance
from streams.windows.pruning.decision import Decision
from streams.windows.pruning.reasons import SENTENCES
from streams.windows.segments import Segmentation
from streams.windows.tokens.accounting import Budget
from streams.windows.tokens.counting import TokenCount, message_tokens
from streams.windows.traits import MessageTraits

UNPUBLISHED: Final = ""  # the id of a message that has none


class KnownWindow(Struct, frozen=True):
    """What is known of a window: what left its context, and how many messages are in it. Of a new one, nothing."""

    gaps: tuple[Gap, ...] = ()
    in_context: int = 0
    last_prune: LastPrune | None = None
    adjustments: Adjustments = field(default_factory=Adjustments)

    @classmethod
    def of(cls, state: WindowState | None) -> "KnownWindow":
        if state is None:
            return cls()
        statistics = state.statistics
        return cls(state.gaps, statistics.messages_in_context, statistics.last_prune, state.adjustments)


def build_context(
    archived: Sequence[ArchivedMessage],
    known: KnownWindow,
    asked: ContextQuery,
    budget: Budget,
    count: TokenCount,
    now: float,
    tool_use: int = 0,
) -> ConversationContext:
    """The context of one window's messages, given in order; those that gaps hold only tell where tasks begin.

    `tool_use` are billed tokens that the provider adds to a request with tools, besides their definitions. Where what is never
    pruned exceeds the limit alone, tool results and then other long messages are shortened. Raises Rejected
    `context_too_small`, naming the sizes, when that is not enough.
    """
    asked_for = budget if asked.max_tokens is None else budget.within(asked.max_tokens)
    tools = budget.billed(count(codec.encode(asked.tools).decode())) + tool_use if asked.tools else 0
    limited = asked_for.within(max(1, asked_for.max_tokens - tools))  # what is never pruned is refused there
    messages = {each.position: each.message for each in archived} | unpublished_messages(archived, asked, now)
    turns = message_traits(dict(sorted(messages.items())), known, budget.settings.task_gap_s, count)
    texts: Texts = {}
    try:
        built = building.build(turns, known.gaps, limited, now)
    except Rejected:
        texts = shortened(messages, turns, known.gaps, limited, count, now)
        if not texts:
            raise
        built = building.build(with_texts(turns, messages, texts, count), known.gaps, limited, now)
    kept = [entry for entry in built.entries if isinstance(entry, MessageTraits)]
    return ConversationContext(
        entries=tuple(entries(built, kept, messages, texts, {each.position for each in archived}, now)),
        tokens=built.tokens,
        billed_tokens=built.billed_tokens + tools,
        limit_tokens=asked_for.max_tokens,
        statistics=statistics.statistics(kept, built.decision.gaps, limited, known.last_prune),
        left_out=tuple(left_out(built.decision, messages)),
        missing=max(0, known.in_context - sum(not gaps.holds(known.gaps, each.position) for each in archived)),
        tool_tokens=tools,
    )


def unpublished_messages(archived: Sequence[ArchivedMessage], asked: ContextQuery, now: float) -> dict[int, Message]:
    """The system prompt and the current message where they were not published, at places before and behind all others."""
    at = datetime.fromtimestamp(now, UTC)
    first, last = (archived[0].position, archived[-1].position) if archived else (0, -1)
    added: dict[int, Message] = {}
    if asked.system is not None:
        added[min(first, 0) - 1] = Message(
            conversation_id=UNPUBLISHED, message_id=UNPUBLISHED, role="system", timestamp=at, content=asked.system
        )
    current = asked.current
    if current is not None and current.message_id not in {each.message.message_id for each in archived}:
        added[last + 1] = Message(
            conversation_id=UNPUBLISHED,
            message_id=current.message_id or UNPUBLISHED,
            role=current.role,
            timestamp=current.timestamp or at,
            content=current.content,
            important=current.important,
            tool_calls=current.tool_calls,
            tool_call_id=current.tool_call_id,
        )
    return added


def message_traits(
    messages: Mapping[int, Message], known: KnownWindow, task_gap_s: float, count: TokenCount
) -> list[MessageTraits]:
    """The messages that no gap holds, as the rules see them."""
    turns, stands = [], Segmentation()
    for position, message in messages.items():
        gone = gaps.holds(known.gaps, position)
        tokens = 0 if gone else message_tokens(message, count)
        _, turn, stands = arrived(message, detect_in(message), position, tokens, stands, task_gap_s)
        if not gone:
            turns.append(weighed(turn, known.adjustments))
    return turns


def entries(
    built: building.Context,
    kept: Sequence[MessageTraits],
    messages: Mapping[int, Message],
    texts: Texts,
    published: set[int],
    now: float,
) -> Iterator[ContextEntry]:
    scores = dict(zip((turn.position for turn in kept), importance.scores(kept, now), strict=True))
    for entry in built.entries:
        if isinstance(entry, Gap):
            yield marker(entry)
            continue
        place = entry.position if entry.position in published else None
        reason = built.decision.reasons[entry.position]
        shown = context_entry(messages[entry.position], entry, place, scores[entry.position], reason)
        text = texts.get(entry.position)
        yield shown if text is None else structs.replace(shown, content=text, shortened=True)


def marker(gap: Gap) -> ContextEntry:
    return ContextEntry(
        role="marker", content=gap.marker, tokens=gap.marker_tokens, position=gap.first, count=gap.count
    )


def context_entry(
    message: Message, turn: MessageTraits, position: int | None, score: float, reason: Reason
) -> ContextEntry:
    return ContextEntry(
        role=message.role,
        content=message.content,
        tokens=turn.tokens,
        position=position,
        message_id=message.message_id or None,
        timestamp=message.timestamp,
        importance=score,
        reason=reason,
        why=SENTENCES[reason],
        important=message.important,
        tool_calls=message.tool_calls,
        tool_call_id=message.tool_call_id,
        mark=turn.mark,
    )


def left_out(decision: Decision, messages: Mapping[int, Message]) -> Iterator[OmittedMessage]:
    for position in decision.removed:
        reason = decision.reasons[position]
        yield OmittedMessage(
            message_id=messages[position].message_id, position=position, reason=reason, why=SENTENCES[reason]
        )
