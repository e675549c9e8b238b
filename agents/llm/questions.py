"""What a model can be asked, whoever runs it: the prompt in its parts, the shape of the reply, and how a reply is read.

A further kind of question is a Purpose, a function here that makes its Question, and a method of ModelProvider that checks
what was read.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar

from msgspec import Struct

from agents.llm.port import Context
from agents.llm.prompts import STABLE, answer_schema, data_part, policy_part
from agents.llm.replies import read_reply, read_summary
from agents.llm.summary_prompt import SUMMARISE, SUMMARY_SCHEMA, length_part, summary_data
from schemas.policies import Policy
from schemas.requests import ExtractionRequest

T = TypeVar("T")
Purpose: TypeAlias = Literal["extract", "summarise", "compact", "score", "shorten"]
Drafts: TypeAlias = tuple[Any, ...]

NOT_THE_JSON: Final = "That was not the JSON asked for. Answer again: one object with "
REPAIR: Final = f"{NOT_THE_JSON}the list `memories`, nothing before or after it."
REPAIR_SUMMARY: Final = f"{NOT_THE_JSON}the string `summary`, nothing before or after it."


def nothing(replies: Sequence[str]) -> None:
    """Of replies that are not the JSON asked for nothing is kept."""


class Question(Struct, Generic[T], frozen=True, kw_only=True):
    """`stable` is the same for every question of its purpose, `policy` for every one under a policy, `asked` is this one's data.

    One that is `local_only` may not leave the machine. `repair` is said to a reply that is not of the `schema`. `read` is
    what a reply says, None unless it is the JSON asked for; `salvaged` is what can be made out of replies of which none is,
    None if that is nothing.
    """

    purpose: Purpose
    stable: str
    policy: str
    asked: str
    local_only: bool
    schema: dict[str, Any]
    repair: str
    read: Callable[[str], T | None]
    salvaged: Callable[[Sequence[str]], T | None] = nothing


def extraction(request: ExtractionRequest, context: Context) -> Question[Drafts]:
    """Its reply are drafts, unchecked builtins."""
    return Question(
        purpose="extract",
        stable=STABLE,
        policy=policy_part(context.policy),
        asked=data_part(request, context),
        local_only=context.policy.local_only,
        schema=answer_schema(context.policy),
        repair=REPAIR,
        read=drafts,
        salvaged=most_drafts,
    )


def summing_up(request: ExtractionRequest, policy: Policy) -> Question[str]:
    """Its reply is the summary, unchecked."""
    return Question(
        purpose="summarise",
        stable=SUMMARISE,
        policy=length_part(policy),
        asked=summary_data(request, policy.privacy),
        local_only=policy.local_only,
        schema=SUMMARY_SCHEMA,
        repair=REPAIR_SUMMARY,
        read=read_summary,
    )


def drafts(text: str) -> Drafts | None:
    reply = read_reply(text)
    return reply.drafts if reply.whole else None


def most_drafts(replies: Sequence[str]) -> Drafts | None:
    """Those of the reply that has most, the later one of two; an empty list would be a silent loss."""
    return max((read_reply(text).drafts for text in reversed(replies)), key=len, default=()) or None
