"""Questions to a model of any provider: the parts of the prompt, the schema of the reply, and how to read it.

To add a kind of question, add an Operation, a function that makes the Question, and a method of ModelProvider that checks the
result.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Generic, TypeVar

import orjson
from msgspec import Struct, structs

from agents.models.answers.candidates import check_drafts, draft_or_none, has_wrong_language
from agents.models.answers.drafts import Draft
from agents.models.answers.replies import ExtractionReply, UnreadableDraft, read_reply, read_summary
from agents.models.answers.shared_answers import SEVERAL_CONVERSATIONS, check_shared
from agents.models.answers.summaries import estimated_tokens
from agents.models.billing import Payer
from agents.models.one_language import writing_rule
from agents.models.port import Context
from agents.models.prompts.extraction import (
    MAX_SLICE_TOKENS,
    STABLE,
    WRITTEN_FIELDS,
    answer_schema,
    data_part,
    policy_part,
    shared_data_part,
)
from agents.models.prompts.summary import SUMMARISE, SUMMARY_SCHEMA, length_part, summary_data
from agents.models.prompts.transcript import tokens_of
from schemas.budgets.usage import Operation
from schemas.extraction.requests import ExtractionRequest
from schemas.policies.policies import Policy
from streams.windows.tokens.counting import TokenCount

T = TypeVar("T")


# Reasons of rejection that a second attempt may repair; other reasons are errors of judgement.
REPAIRABLE: Final = frozenset({"schema", "range", "kind", "length"})
CONSTRAINT: Final = "constraint"
HARD_IMPORTANCE: Final = 0.9  # that the prompt gives health, safety and hard constraints
NOT_THE_JSON: Final = "That was not the JSON asked for. Answer again: one object with "
REPAIR: Final = (
    f"{NOT_THE_JSON}the list `memories`, each with all its fields, a kind of the list, a text within the limit (two memories for "
    "a longer one), confidence and importance from 0 to 1, nothing before or after it."
)
ONE_CONVERSATION: Final = "A memory cites messages of one conversation only."
CONTINUE: Final = (
    "That answer broke off. Answer with the list `memories` again, with only those that are still missing from it. Places in "
    "`corrects` count on from those."
)
REPAIR_SUMMARY: Final = f"{NOT_THE_JSON}the string `summary`, nothing before or after it."


# Answer tokens per token of the slice, at most (conversations with many facts), and the minimum of a call.
ANSWER_SHARE: Final = 0.75
MIN_ANSWER_TOKENS: Final = 2_048


def salvage_nothing(replies: Sequence[str]) -> None:
    """The default: replies of another shape have nothing to salvage."""


def keep_no_part(reply: str) -> None:
    """The default: a truncated reply is requested again from the beginning."""


class Question(Struct, Generic[T], frozen=True, kw_only=True):
    """The prompt and how to read its reply. `stable` is the same for every question of a purpose, `policy` for every
    question under a policy; `user_prompt` has the data.

    - `local_only`: the question must not leave the machine. `payer` pays.
    - `read` parses a reply. It returns None for a reply without the requested JSON of `schema`; `repair` is then the next turn.
    - `salvaged` returns the readable parts of replies that `read` rejected; None if nothing is readable.
    - `part` returns the complete part of a truncated reply; `resume` is then the next turn, and `joined` joins the parts. If it
      returns None, the question is repeated.
    - `answer_tokens` limits the first reply; the second one may be longer.
    """

    purpose: Operation
    payer: Payer
    stable: str
    policy: str
    user_prompt: str
    local_only: bool
    schema: dict[str, Any]
    repair: str
    read: Callable[[str], T | None]
    salvaged: Callable[[Sequence[str]], T | None] = salvage_nothing
    part: Callable[[str], str | None] = keep_no_part
    joined: Callable[[Sequence[str]], str] = lambda texts: texts[-1]
    resume: str = ""
    answer_tokens: int = MIN_ANSWER_TOKENS


def extraction_question(
    request: ExtractionRequest,
    context: Context,
    max_tokens: int = MAX_SLICE_TOKENS,
    count_tokens: TokenCount = estimated_tokens,
) -> Question[ExtractionReply]:
    """A question whose reply has drafts and ratings as unchecked builtins. Shows at most about `max_tokens` of the slice."""
    return Question(
        purpose="extract",
        payer=Payer.of(request, context.policy),
        stable=STABLE,
        policy=policy_part(context.policy, request.scope.mode),
        user_prompt=data_part(request, context, max_tokens),
        local_only=context.policy.local_only,
        schema=answer_schema(context.policy),
        repair=f"{REPAIR} {writing_rule(context.policy, WRITTEN_FIELDS)}".rstrip(),
        read=partial(valid_drafts, request=request, context=context, count_tokens=count_tokens),
        salvaged=salvage_drafts,
        part=complete_part,
        joined=all_drafts,
        resume=CONTINUE,
        answer_tokens=answer_tokens(request),
    )


def shared_question(
    requests: Sequence[ExtractionRequest],
    context: Context,
    max_tokens: int = MAX_SLICE_TOKENS,
    count_tokens: TokenCount = estimated_tokens,
) -> Question[ExtractionReply]:
    """The question of `extraction_question` for slices of several conversations of one person and mode, under one policy."""
    single = extraction_question(requests[0], context, max_tokens, count_tokens)
    return structs.replace(
        single,
        payer=structs.replace(single.payer, request_id=None, conversation_id=None),
        user_prompt=shared_data_part(requests, context, max_tokens),
        repair=f"{single.repair} {ONE_CONVERSATION}",
        read=partial(valid_shared_drafts, requests=requests, context=context, count_tokens=count_tokens),
        answer_tokens=answer_tokens(*requests),
    )


def answer_tokens(*requests: ExtractionRequest) -> int:
    """The token limit of the first reply, in proportion to the slices' tokens."""
    slice_tokens = sum(tokens_of(message) for request in requests for message in request.messages)
    return max(MIN_ANSWER_TOKENS, round(ANSWER_SHARE * slice_tokens))


def complete_part(text: str) -> str | None:
    """The complete memories of a truncated reply, as a reply."""
    drafts = read_reply(text).drafts
    return orjson.dumps({"memories": drafts}).decode() if drafts else None


def all_drafts(texts: Sequence[str]) -> str:
    """A truncated reply and its continuation as one reply; the last text alone if it is unreadable."""
    replies = [read_reply(text) for text in texts]
    if not replies[-1].whole:
        return texts[-1]
    drafts = [draft for reply in replies for draft in reply.drafts]
    return orjson.dumps({"memories": drafts, "ratings": replies[-1].ratings}).decode()


def summary_question(request: ExtractionRequest, policy: Policy, max_tokens: int = MAX_SLICE_TOKENS) -> Question[str]:
    """A question whose reply is an unchecked summary."""
    return Question(
        purpose="summarise",
        payer=Payer.of(request, policy),
        stable=SUMMARISE,
        policy=length_part(policy),
        user_prompt=summary_data(request, policy.privacy, max_tokens),
        local_only=policy.local_only,
        schema=SUMMARY_SCHEMA,
        repair=REPAIR_SUMMARY,
        read=read_summary,
    )


def valid_drafts(
    text: str, request: ExtractionRequest, context: Context, count_tokens: TokenCount
) -> ExtractionReply | None:
    """The reply; None if a second attempt may improve it: drafts of another shape, in another language, or too long."""
    reply = read_reply(text)
    if not reply.whole or not is_acceptable(reply.drafts, context.policy):
        return None
    if not REPAIRABLE.isdisjoint(check_drafts(reply.drafts, request, context, count_tokens).rejected):
        return None
    return reply


def valid_shared_drafts(
    text: str, requests: Sequence[ExtractionRequest], context: Context, count_tokens: TokenCount
) -> ExtractionReply | None:
    """The reply about several slices; None if a second attempt may improve it."""
    reply = read_reply(text)
    if not is_acceptable(reply.drafts, context.policy):
        return None
    checked = check_shared(reply.drafts, requests, context, count_tokens) if reply.whole else ()
    reasons = {reason for each in checked for reason in each.rejected}
    return reply if reply.whole and (REPAIRABLE | {SEVERAL_CONVERSATIONS}).isdisjoint(reasons) else None


def is_acceptable(drafts: Sequence[object], policy: Policy) -> bool:
    """Whether no draft is in an unwanted language, and no hard constraint is too long. Other texts that are somewhat too long
    are cut: a second attempt costs as much as the first."""
    if has_wrong_language(drafts, policy):
        return False
    sound = (each for draft in drafts if (each := draft_or_none(draft)) is not None)
    return not any(is_constraint(each) and len(each.text.strip()) > policy.max_text_chars for each in sound)


def is_constraint(draft: Draft) -> bool:
    return CONSTRAINT in (tag.strip().lower() for tag in draft.tags) or (draft.importance or 0.0) >= HARD_IMPORTANCE


def salvage_drafts(replies: Sequence[str]) -> ExtractionReply | None:
    """The reply with the most drafts; of equals the later one. None without drafts, as an empty list would lose the slice
    silently."""
    best = max((read_reply(text) for text in reversed(replies)), key=lambda reply: len(reply.drafts))
    if not best.drafts:
        return None
    return best if best.whole else ExtractionReply((*best.drafts, UnreadableDraft()), whole=False)
