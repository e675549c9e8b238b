"""What a model can be asked, whoever runs it: the prompt in its parts, the shape of the reply, and how a reply is read.

A further kind of question is a Purpose, a function here that makes its Question, and a method of ModelProvider that checks
what was read.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Generic, TypeAlias, TypeVar

import orjson
from msgspec import Struct

from agents.models.answers.candidates import check
from agents.models.answers.replies import Reply, Unreadable, read_reply, read_summary
from agents.models.answers.summaries import estimated_tokens
from agents.models.billing import Payer
from agents.models.port import Context
from agents.models.prompts.extraction import MOST_TOKENS, STABLE, answer_schema, data_part, policy_part
from agents.models.prompts.summary import SUMMARISE, SUMMARY_SCHEMA, length_part, summary_data
from agents.models.prompts.transcript import size
from schemas.budgets.usage import Operation
from schemas.extraction.requests import ExtractionRequest
from schemas.policies.policies import Policy
from streams.windows.tokens.counting import TokenCount

T = TypeVar("T")
Purpose: TypeAlias = Operation

# Reasons of rejected drafts that are faults of form; the others are faults of judgement, which asking again does not mend.
MENDABLE: Final = frozenset({"schema", "range", "kind"})
NOT_THE_JSON: Final = "That was not the JSON asked for. Answer again: one object with "
REPAIR: Final = (
    f"{NOT_THE_JSON}the list `memories`, each with all its fields, a kind of the list, confidence and importance from 0 to 1, "
    "nothing before or after it."
)
CONTINUE: Final = (
    "That answer broke off. Answer with the list `memories` again, with only those that are still missing from it."
)
REPAIR_SUMMARY: Final = f"{NOT_THE_JSON}the string `summary`, nothing before or after it."


# What an answer comes to for a token that was said, at the most that conversations full of facts have; and for a call at least.
ANSWERED_SHARE: Final = 0.75
LEAST_ANSWER_TOKENS: Final = 2_048


def nothing(replies: Sequence[str]) -> None:
    """Of replies that are not the JSON asked for nothing is kept."""


def no_part(reply: str) -> None:
    """A reply that broke off is asked for again."""


class Question(Struct, Generic[T], frozen=True, kw_only=True):
    """`stable` is the same for every question of its purpose, `policy` for every one under a policy, `asked` is this one's data.

    One that is `local_only` may not leave the machine. `repair` is said to a reply that is not of the `schema`. `read` is
    what a reply says, None unless it is the JSON asked for; `salvaged` is what can be made out of replies of which none is,
    None if that is nothing. `part` is what a reply that broke off says so far, as a reply of its own that `resume` has gone on
    with; None if it must be asked for again. An answer has `answer_tokens` at most, unless it turns out to need more.
    `payer` is for whom it is asked.
    """

    purpose: Purpose
    payer: Payer
    stable: str
    policy: str
    asked: str
    local_only: bool
    schema: dict[str, Any]
    repair: str
    read: Callable[[str], T | None]
    salvaged: Callable[[Sequence[str]], T | None] = nothing
    part: Callable[[str], str | None] = no_part
    joined: Callable[[Sequence[str]], str] = lambda texts: texts[-1]
    resume: str = ""
    answer_tokens: int = LEAST_ANSWER_TOKENS


def extraction_question(
    request: ExtractionRequest,
    context: Context,
    most_tokens: int = MOST_TOKENS,
    count_tokens: TokenCount = estimated_tokens,
) -> Question[Reply]:
    """Its reply has drafts and ratings, unchecked builtins. It shows about `most_tokens` of the slice at most."""
    return Question(
        purpose="extract",
        payer=Payer.of(request, context.policy),
        stable=STABLE,
        policy=policy_part(context.policy, request.scope.mode),
        asked=data_part(request, context, most_tokens),
        local_only=context.policy.local_only,
        schema=answer_schema(context.policy),
        repair=REPAIR,
        read=partial(sound_drafts, request=request, context=context, count_tokens=count_tokens),
        salvaged=most_drafts,
        part=complete_part,
        joined=all_drafts,
        resume=CONTINUE,
        answer_tokens=answer_tokens(request),
    )


def answer_tokens(request: ExtractionRequest) -> int:
    """Room for the answer: what a slice says bounds what there is to tell of it."""
    return max(LEAST_ANSWER_TOKENS, round(ANSWERED_SHARE * sum(map(size, request.messages))))


def complete_part(text: str) -> str | None:
    """The memories that are complete in a reply that broke off, as a reply."""
    drafts = read_reply(text).drafts
    return orjson.dumps({"memories": drafts}).decode() if drafts else None


def all_drafts(texts: Sequence[str]) -> str:
    """A reply that broke off and what went on from it, as one; the last one alone if it is none."""
    replies = [read_reply(text) for text in texts]
    if not replies[-1].whole:
        return texts[-1]
    drafts = [draft for reply in replies for draft in reply.drafts]
    return orjson.dumps({"memories": drafts, "ratings": replies[-1].ratings}).decode()


def summary_question(request: ExtractionRequest, policy: Policy, most_tokens: int = MOST_TOKENS) -> Question[str]:
    """Its reply is the summary, unchecked."""
    return Question(
        purpose="summarise",
        payer=Payer.of(request, policy),
        stable=SUMMARISE,
        policy=length_part(policy),
        asked=summary_data(request, policy.privacy, most_tokens),
        local_only=policy.local_only,
        schema=SUMMARY_SCHEMA,
        repair=REPAIR_SUMMARY,
        read=read_summary,
    )


def sound_drafts(text: str, request: ExtractionRequest, context: Context, count_tokens: TokenCount) -> Reply | None:
    """The reply; None if some of its drafts are of another form than was asked for, which a second attempt may mend."""
    reply = read_reply(text)
    if not reply.whole or not MENDABLE.isdisjoint(check(reply.drafts, request, context, count_tokens).rejected):
        return None
    return reply


def most_drafts(replies: Sequence[str]) -> Reply | None:
    """Those of the reply that has most, the later one of two; an empty list would be a silent loss."""
    best = max((read_reply(text) for text in reversed(replies)), key=lambda reply: len(reply.drafts))
    if not best.drafts:
        return None
    return best if best.whole else Reply((*best.drafts, Unreadable()), whole=False)
