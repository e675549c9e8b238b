"""Makes protected messages fit where they have no room: shortens messages, and leaves the oldest out if that is not enough."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil
from typing import Final

from msgspec import Struct, structs

from agents.conversations.truncation import json_text, size_limit, truncate, truncate_arguments
from schemas.conversations.messages import Message, Role
from schemas.conversations.windows import Gap
from streams.windows.context import gaps as gaps_
from streams.windows.pruning.pruning import prune
from streams.windows.pruning.remaining import Room
from streams.windows.pruning.units import group_steps
from streams.windows.tokens.accounting import Budget
from streams.windows.tokens.counting import TokenCount, message_tokens
from streams.windows.traits import MessageTraits

MIN_TOKENS: Final = 48  # tokens of a shortened text, its mark included
MARK_TOKENS: Final = 20  # used if the former is too much even after other messages left; the mark takes up to 13

Messages = Mapping[int, Message]  # by position


class Fitted(Struct, frozen=True):
    """Copies of the `shortened` messages by position, and the positions of the `left_out` ones."""

    shortened: dict[int, Message] = {}
    left_out: frozenset[int] = frozenset()


class Piece(Struct, frozen=True):
    """A part of a message that can be truncated: its content, or the arguments of its tool call at index `call`."""

    position: int
    role: Role
    tokens: int
    call: int | None = None

    @property
    def of_tools(self) -> bool:
        return self.role == "tool" or self.call is not None


def fitted(
    messages: Messages,
    turns: Sequence[MessageTraits],
    gaps: Sequence[Gap],
    budget: Budget,
    count: TokenCount,
    now: float,
) -> Fitted:
    """Shortens or leaves out protected messages until they fit, or as far as possible.

    Tool results and arguments are shortened first, then other messages, then system prompts. Then messages leave, oldest
    first, tool calls with their results; the latest message of a user and the first system prompt stay.
    """
    decision = prune(turns, [gaps_.summarised(gap, "", 0) for gap in gaps], budget, now)
    positions = set(decision.retained)
    kept = [turn for turn in turns if turn.position in positions]
    pieces = [piece for turn in kept for piece in _pieces(turn.position, messages[turn.position], count)]
    over = _over(decision.tokens, budget)
    for chosen in (
        [piece for piece in pieces if piece.of_tools],
        [piece for piece in pieces if piece.role != "system"],
    ):
        most = size_limit([piece.tokens for piece in chosen], over, MIN_TOKENS)
        if most is not None:
            return Fitted(_shortened(messages, chosen, most, count))
    left_out, most = _least_left_out(kept, decision.gaps, pieces, budget)
    stayed = [piece for piece in pieces if piece.position not in left_out]
    return Fitted(_shortened(messages, stayed, most, count), left_out)


def _over(tokens: int, budget: Budget) -> int:
    """The counted tokens above the budget."""
    return ceil((budget.billed(tokens) - budget.max_tokens) / budget.ratio) + 1


def _pieces(position: int, message: Message, count: TokenCount) -> Iterator[Piece]:
    yield Piece(position, message.role, count(message.content))
    for place, call in enumerate(message.tool_calls):
        if call.arguments is not None:
            yield Piece(position, message.role, count(json_text(call.arguments)), place)


def _least_left_out(
    kept: Sequence[MessageTraits], gaps: Sequence[Gap], pieces: Sequence[Piece], budget: Budget
) -> tuple[frozenset[int], int]:
    """The positions of the fewest messages that must leave, and the most tokens for each piece of the others."""
    left_out: set[int] = set()
    for least in (MIN_TOKENS, MARK_TOKENS):
        left_out.clear()
        room, spare = Room(kept, gaps), dict.fromkeys((turn.position for turn in kept), 0)
        for piece in pieces:
            spare[piece.position] += max(0, piece.tokens - least)
        for step in ([], *_leaving(kept)):
            for place in step:
                room.remove(place)
                left_out.add(kept[place].position)
                del spare[kept[place].position]
            over = _over(room.tokens, budget)
            if sum(spare.values()) >= over:
                most = size_limit([piece.tokens for piece in pieces if piece.position in spare], over, least)
                assert most is not None  # there is as much to spare
                return frozenset(left_out), most
    return frozenset(left_out), MARK_TOKENS


def _leaving(kept: Sequence[MessageTraits]) -> list[list[int]]:
    """Groups of places in the order in which they leave."""
    said = [place for place, turn in enumerate(kept) if turn.role != "system"]
    prompts = [place for place, turn in enumerate(kept) if turn.role == "system"]
    users = [place for place in said if kept[place].role == "user"]
    last = (users or said)[-1:]
    steps = [step for step in group_steps(kept) if not set(last) & set(step)]
    return [*steps, *([place] for place in prompts[1:])]


def _shortened(messages: Messages, pieces: Iterable[Piece], most: int, count: TokenCount) -> dict[int, Message]:
    found: dict[int, Message] = {}
    for piece in pieces:
        if piece.tokens > most:
            whole = found.get(piece.position, messages[piece.position])
            found[piece.position] = _without(whole, piece, most, count)
    return found


def _without(message: Message, piece: Piece, most: int, count: TokenCount) -> Message:
    """The message with one piece truncated."""
    if piece.call is None:
        return structs.replace(message, content=truncate(message.content, piece.tokens, most, count))
    calls = list(message.tool_calls)
    call = calls[piece.call]
    calls[piece.call] = structs.replace(call, arguments=truncate_arguments(call.arguments, most, count))
    return structs.replace(message, tool_calls=tuple(calls))


def with_shortened(turns: Iterable[MessageTraits], shortened: Messages, count: TokenCount) -> list[MessageTraits]:
    """The traits of the messages after shortening."""
    return [
        structs.replace(turn, tokens=message_tokens(shortened[turn.position], count))
        if turn.position in shortened
        else turn
        for turn in turns
    ]
