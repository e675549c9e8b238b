"""Builds a conversation's context from the archive by the rules of windows."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct, field, structs

from agents.conversations.shortening import Fitted, fitted, with_shortened
from agents.conversations.token_count_cache import Detect
from schemas import codec
from schemas.conversations.adjustments import Adjustments
from schemas.conversations.contexts import ContextEntry, ContextQuery, ConversationContext, OmittedMessage
from schemas.conversations.messages import Message
from schemas.conversations.windows import Gap, LastPrune, Reason, WindowState
from schemas.errors import Rejected
from sinks.archive.messages import ArchivedMessage
from streams.windows.arrival import make_entry
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

UNPUBLISHED: Final = ""  # the id of a message without an id


class KnownWindow(Struct, frozen=True):
    """The known state of a window: what left its context, and the number of messages in it. Empty for a new one."""

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
    query: ContextQuery,
    budget: Budget,
    count: TokenCount,
    now: float,
    tool_use: int = 0,
    detect: Detect = detect_in,
) -> ConversationContext:
    """The context of one window's messages, given in order; messages inside gaps only show where tasks begin.

    `tool_use` are billed tokens that the provider adds to a request with tools, besides their definitions. Where protected
    messages alone exceed the limit, they are shortened, and left out if that is not enough (`fitted`). Raises Rejected
    `context_too_small`, naming the sizes, if not even the latest message fits.
    """
    requested = budget if query.max_tokens is None else budget.within(query.max_tokens)
    tools = budget.billed(count(codec.encode(query.tools).decode())) + tool_use if query.tools else 0
    limited = requested.within(max(1, requested.max_tokens - tools))  # a limit that is too small is rejected below
    messages = {each.position: each.message for each in archived} | unpublished_messages(archived, query, now)
    turns = message_traits(dict(sorted(messages.items())), known, budget.settings.task_gap_s, count, detect)
    try:
        built, fit = built_to_fit(messages, turns, known.gaps, limited, count, now)
    except Rejected as exc:
        if not tools:
            raise
        error = f"{exc.detail}. Definitions of tools take {tools} of the {requested.max_tokens} tokens"
        raise Rejected(exc.reason, error) from exc
    kept = [entry for entry in built.entries if isinstance(entry, MessageTraits)]
    return ConversationContext(
        entries=tuple(entries(built, kept, messages, fit.shortened, {each.position for each in archived}, now)),
        tokens=built.tokens,
        billed_tokens=built.billed_tokens + tools,
        limit_tokens=requested.max_tokens,
        statistics=statistics.statistics(kept, built.decision.gaps, limited, known.last_prune),
        left_out=tuple(left_out(built.decision, messages)),
        missing=max(0, known.in_context - sum(not gaps.holds(known.gaps, each.position) for each in archived)),
        tool_tokens=tools,
    )


def built_to_fit(
    messages: Mapping[int, Message],
    turns: Sequence[MessageTraits],
    known: Sequence[Gap],
    limited: Budget,
    count: TokenCount,
    now: float,
) -> tuple[building.Context, Fitted]:
    """The context, and the shortening of protected messages that it needed. Raises Rejected `context_too_small`."""
    try:
        return building.build(turns, known, limited, now), Fitted()
    except Rejected:
        fit = fitted(messages, turns, known, limited, count, now)
        shorter = with_shortened(turns, fit.shortened, count)
        return building.build(shorter, known, limited, now, left_out=fit.left_out), fit


def unpublished_messages(archived: Sequence[ArchivedMessage], query: ContextQuery, now: float) -> dict[int, Message]:
    """The system prompt and the current message of the query, if they were not published, placed before and behind all
    others."""
    at = datetime.fromtimestamp(now, UTC)
    first, last = (archived[0].position, archived[-1].position) if archived else (0, -1)
    added: dict[int, Message] = {}
    if query.system is not None:
        added[min(first, 0) - 1] = Message(
            conversation_id=UNPUBLISHED, message_id=UNPUBLISHED, role="system", timestamp=at, content=query.system
        )
    current = query.current
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
    messages: Mapping[int, Message], known: KnownWindow, task_gap_s: float, count: TokenCount, detect: Detect
) -> list[MessageTraits]:
    """The traits of the messages outside of gaps."""
    turns, stands = [], Segmentation()
    for position, message in messages.items():
        gone = gaps.holds(known.gaps, position)
        tokens = 0 if gone else message_tokens(message, count)
        _, turn, stands = make_entry(message, detect(message), position, tokens, stands, task_gap_s)
        if not gone:
            turns.append(weighed(turn, known.adjustments))
    return turns


def entries(
    built: building.Context,
    kept: Sequence[MessageTraits],
    messages: Mapping[int, Message],
    shortened: Mapping[int, Message],
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
        message = shortened.get(entry.position, messages[entry.position])
        shown = context_entry(message, entry, place, scores[entry.position], reason)
        yield structs.replace(shown, shortened=True) if entry.position in shortened else shown


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
