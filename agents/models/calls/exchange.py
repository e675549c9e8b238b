"""Asks a model a question: one call, and a second one if the reply is truncated or not the requested JSON."""

from collections.abc import Sequence
from typing import Any, Generic, Literal, Protocol, TypeVar

from msgspec import Struct

from agents.models.billing import Bill
from agents.models.calls.metering import Meter
from agents.models.calls.rate_limits import Allowance
from agents.models.local_only import require_local
from agents.models.port import MeasuredCall, Usage
from agents.models.prompts.questions import Question
from schemas.errors import Rejected

T = TypeVar("T")


class ChatTurn(Struct, frozen=True):
    """One message of an exchange; its text is never empty."""

    role: Literal["user", "assistant"]
    text: str


class ModelReply(Struct, frozen=True, kw_only=True):
    """A model's reply and its usage. `truncated`: it reached the token limit. `counted` is False if the prompt's tokens are
    unknown. `request_id` is the provider's, for support; `allowances` are the rate limits that it reported."""

    text: str
    truncated: bool
    model: str
    usage: Usage
    counted: bool = True
    request_id: str | None = None
    allowances: tuple[Allowance, ...] = ()


class ReplyRefused(Rejected):
    """The model refused to answer. The call may still be billed."""

    def __init__(self, reason: str, detail: str, bill: Bill) -> None:
        super().__init__(reason, detail)
        self.bill = bill


class ModelCalls(Protocol):
    """Makes calls to a model. `name` is the provider's."""

    name: str
    leaves_machine: bool
    max_reply_tokens: int
    """The token limit of any reply. The first reply to a question is also limited to its `answer_tokens`."""

    async def unavailable_reason(self) -> str | None:
        """See Provider.unavailable_reason."""

    def model(self, question: Question[Any]) -> str:
        """The model that answers this question."""

    async def call(self, question: Question[Any], turns: Sequence[ChatTurn], max_tokens: int) -> ModelReply:
        """A reply of at most `max_tokens` tokens to the last turn.

        Raises Retryable, Misconfigured, and Rejected for a refusal or a prompt that is too large; ReplyRefused for a billed
        refusal.
        """

    def fixed_texts(self, question: Question[Any]) -> tuple[str, ...]:
        """The texts of a call besides its turns, the schema included. Many questions share them."""


class Exchange(Struct, Generic[T], frozen=True, kw_only=True):
    """The result of a question: the parsed reply, `whole` unless only parts of it were readable."""

    reply: T
    whole: bool
    model: str
    usage: Usage
    calls: tuple[MeasuredCall, ...]


class Replies(Struct, frozen=True):
    """The reply texts to parse, in order; `made` has the turns and the reply of every call."""

    texts: tuple[str, ...]
    made: tuple[tuple[tuple[ChatTurn, ...], ModelReply], ...]


async def exchange(
    calls: ModelCalls, question: Question[T], meter: Meter | None = None, bills: list[Bill] | None = None
) -> Exchange[T]:
    """Asks a question. Appends each call's bill to `bills`, also if the question fails.

    Raises as a call does, Rejected `truncated` or `unreadable` after the second call, and Rejected `must_stay` before any
    call.
    """
    require_local(question.local_only, calls)
    replies = await replies_to(calls, question, [] if bills is None else bills)
    reply, whole = parse_replies(question, replies.texts)
    return Exchange(
        reply=reply,
        whole=whole,
        model=replies.made[-1][1].model,
        usage=total([spoken.usage for _, spoken in replies.made]),
        calls=measured(calls.fixed_texts(question), replies, meter),
    )


async def replies_to(calls: ModelCalls, question: Question[T], bills: list[Bill]) -> Replies:
    """Makes the first call, and a second one to continue a truncated reply or to repair an unreadable one."""
    turns = (ChatTurn("user", question.user_prompt),)
    first = await call_and_bill(calls, question, turns, first_max_tokens(calls, question), bills)
    if first.truncated:
        part = question.part(first.text)
        asking = turns if part is None else with_repair(turns, part, question.resume)
        again = await call_and_bill(calls, question, asking, calls.max_reply_tokens, bills)
        continued = complete_text(again, calls.max_reply_tokens)
        whole = continued if part is None else question.joined((part, continued))
        return Replies((whole,), ((turns, first), (asking, again)))
    if question.read(first.text) is not None:
        return Replies((first.text,), ((turns, first),))
    repairing = with_repair(turns, first.text, question.repair)
    second = await call_and_bill(calls, question, repairing, calls.max_reply_tokens, bills)
    return Replies((first.text, second.text), ((turns, first), (repairing, second)))


def first_max_tokens(calls: ModelCalls, question: Question[Any]) -> int:
    """The token limit of the first reply; unwritten tokens are not billed."""
    return min(question.answer_tokens, calls.max_reply_tokens)


async def call_and_bill(
    calls: ModelCalls, question: Question[Any], turns: Sequence[ChatTurn], max_tokens: int, bills: list[Bill]
) -> ModelReply:
    try:
        reply = await calls.call(question, turns, max_tokens)
    except ReplyRefused as declined:
        bills.append(declined.bill)
        raise
    bills.append(Bill(model=reply.model, usage=reply.usage))
    return reply


def complete_text(reply: ModelReply, max_tokens: int) -> str:
    """The text of a reply. Raises Rejected `truncated`."""
    if reply.truncated:
        raise Rejected(
            "truncated",
            f"the answer has more than {max_tokens} tokens or fills the model's context: lower the policy's slice_tokens",
        )
    return reply.text


def with_repair(turns: tuple[ChatTurn, ...], text: str, repair: str) -> tuple[ChatTurn, ...]:
    # Models reject empty turns.
    return (*turns, ChatTurn("assistant", text.strip() or "(empty)"), ChatTurn("user", repair))


def parse_replies(question: Question[T], texts: Sequence[str]) -> tuple[T, bool]:
    """Parses the last text (True), or salvages parts of all texts (False). Raises Rejected `unreadable`."""
    last = question.read(texts[-1])
    if last is not None:
        return last, True
    rest = question.salvaged(texts)
    if rest is None:
        raise Rejected("unreadable", "the model returned no JSON of the requested form in two attempts")
    return rest, False


def measured(fixed: tuple[str, ...], replies: Replies, meter: Meter | None) -> tuple[MeasuredCall, ...]:
    if meter is None:
        return ()
    return tuple(
        call
        for turns, reply in replies.made
        if reply.counted
        for call in meter.measured(fixed, [turn.text for turn in turns], reply.usage)
    )


def total(usages: Sequence[Usage]) -> Usage:
    return Usage(
        input_tokens=sum(each.input_tokens for each in usages),
        output_tokens=sum(each.output_tokens for each in usages),
        cache_read_tokens=sum(each.cache_read_tokens for each in usages),
        cache_write_tokens=sum(each.cache_write_tokens for each in usages),
        batched=all(each.batched for each in usages),
    )
