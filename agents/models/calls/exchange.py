"""A question put to a model: one call, and a second one when the reply broke off or is not the JSON asked for."""

from collections.abc import Sequence
from typing import Any, Generic, Literal, Protocol, TypeVar

from msgspec import Struct

from agents.models.billing import Bill
from agents.models.calls.metering import Meter
from agents.models.calls.rate_limits import Allowance
from agents.models.local_only import require_staying
from agents.models.port import Call, Usage
from agents.models.prompts.questions import Question
from schemas.errors import Rejected

T = TypeVar("T")


class ChatTurn(Struct, frozen=True):
    """One message of an exchange; its text is never empty."""

    role: Literal["user", "assistant"]
    text: str


class ModelReply(Struct, frozen=True, kw_only=True):
    """A model's reply, and what it cost. `broke_off` at the limit of its tokens. `counted` unless nobody told the prompt's.

    `request_id` is the provider's, for its support; `allowances` are what it told of its limits.
    """

    text: str
    broke_off: bool
    model: str
    usage: Usage
    counted: bool = True
    request_id: str | None = None
    allowances: tuple[Allowance, ...] = ()


class ReplyRefused(Rejected):
    """A reply that is none, though it may be billed: the model declined to answer, or could not."""

    def __init__(self, reason: str, detail: str, bill: Bill) -> None:
        super().__init__(reason, detail)
        self.bill = bill


class Calls(Protocol):
    """How a model is reached. `name` is the provider's."""

    name: str
    leaves_machine: bool
    larger_max_tokens: int
    """The most that any reply gets: one that did not fit its question's `answer_tokens` once more."""

    async def trouble(self) -> str | None:
        """As a Provider's."""

    def model(self, question: Question[Any]) -> str:
        """The model that is asked such a question."""

    async def call(self, question: Question[Any], turns: Sequence[ChatTurn], max_tokens: int) -> ModelReply:
        """One reply of at most `max_tokens` to the last turn.

        Raises Retryable, Misconfigured, and Rejected for a refusal and what is too large: Declined where it was billed.
        """

    def fixed(self, question: Question[Any]) -> tuple[str, ...]:
        """The texts that a call sends, schema included, besides its turns; many questions share them."""


class Exchange(Struct, Generic[T], frozen=True, kw_only=True):
    """What came of a question: the reply as it was read; not `whole` when only parts of it could be."""

    reply: T
    whole: bool
    model: str
    usage: Usage
    calls: tuple[Call, ...]


class Replies(Struct, frozen=True):
    """The texts that answer a question, in order, without one that broke off, and every call made, with what it was sent."""

    texts: tuple[str, ...]
    made: tuple[tuple[tuple[ChatTurn, ...], ModelReply], ...]


async def exchange(
    calls: Calls, question: Question[T], meter: Meter | None = None, tab: list[Bill] | None = None
) -> Exchange[T]:
    """What each call was billed is put on the `tab`, also when nothing comes of it.

    Raises as a call does, Rejected `truncated` or `unreadable` after the second, and `must_stay` before any.
    """
    require_staying(question.local_only, calls)
    replies = await reply_of(calls, question, [] if tab is None else tab)
    reply, whole = read(question, replies.texts)
    return Exchange(
        reply=reply,
        whole=whole,
        model=replies.made[-1][1].model,
        usage=total([spoken.usage for _, spoken in replies.made]),
        calls=measured(calls.fixed(question), replies, meter),
    )


async def reply_of(calls: Calls, question: Question[T], tab: list[Bill]) -> Replies:
    asked = (ChatTurn("user", question.asked),)
    first = await bills_of(calls, question, asked, first_max_tokens(calls, question), tab)
    if first.broke_off:
        part = question.part(first.text)
        asking = asked if part is None else repaired(asked, part, question.resume)
        again = await bills_of(calls, question, asking, calls.larger_max_tokens, tab)
        told = unbroken(again, calls.larger_max_tokens)
        whole = told if part is None else question.joined((part, told))
        return Replies((whole,), ((asked, first), (asking, again)))
    if question.read(first.text) is not None:
        return Replies((first.text,), ((asked, first),))
    repairing = repaired(asked, first.text, question.repair)
    second = await bills_of(calls, question, repairing, calls.larger_max_tokens, tab)
    return Replies((first.text, second.text), ((asked, first), (repairing, second)))


def first_max_tokens(calls: Calls, question: Question[Any]) -> int:
    """Of the first reply; nothing that is not written is billed."""
    return min(question.answer_tokens, calls.larger_max_tokens)


async def bills_of(
    calls: Calls, question: Question[Any], turns: Sequence[ChatTurn], max_tokens: int, tab: list[Bill]
) -> ModelReply:
    try:
        spoken = await calls.call(question, turns, max_tokens)
    except ReplyRefused as declined:
        tab.append(declined.bill)
        raise
    tab.append(Bill(model=spoken.model, usage=spoken.usage))
    return spoken


def unbroken(spoken: ModelReply, max_tokens: int) -> str:
    if spoken.broke_off:
        raise Rejected(
            "truncated",
            f"the answer has more than {max_tokens} tokens or fills the window: lower the policy's slice_tokens",
        )
    return spoken.text


def repaired(asked: tuple[ChatTurn, ...], text: str, repair: str) -> tuple[ChatTurn, ...]:
    # Models take no empty turn: an empty reply is shown as such.
    return (*asked, ChatTurn("assistant", text.strip() or "(empty)"), ChatTurn("user", repair))


def read(question: Question[T], texts: Sequence[str]) -> tuple[T, bool]:
    """What the last of the texts says, and that it is whole; else what can be made out of all. Raises Rejected `unreadable`."""
    last = question.read(texts[-1])
    if last is not None:
        return last, True
    rest = question.salvaged(texts)
    if rest is None:
        raise Rejected("unreadable", "the model answered twice without the JSON asked for")
    return rest, False


def measured(fixed: tuple[str, ...], replies: Replies, meter: Meter | None) -> tuple[Call, ...]:
    if meter is None:
        return ()
    return tuple(
        call
        for turns, spoken in replies.made
        if spoken.counted
        for call in meter.measured(fixed, [turn.text for turn in turns], spoken.usage)
    )


def total(usages: Sequence[Usage]) -> Usage:
    return Usage(
        input_tokens=sum(each.input_tokens for each in usages),
        output_tokens=sum(each.output_tokens for each in usages),
        cache_read_tokens=sum(each.cache_read_tokens for each in usages),
        cache_write_tokens=sum(each.cache_write_tokens for each in usages),
        batched=all(each.batched for each in usages),
    )
