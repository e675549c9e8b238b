"""What was said before its namespaces were erased: no model is told of it, and no answer says it."""

from collections.abc import Sequence

from msgspec.structs import replace

from agents.models.port import Answer, Summary
from schemas.erasure.erasures import Fence
from schemas.extraction.requests import ExtractionRequest, SliceMessage

NOBODY, NOTHING = "memstream", "none"  # the provider and the model of an answer to a question that was not asked


def without_erased(request: ExtractionRequest, fences: Sequence[Fence]) -> ExtractionRequest:
    """Without the messages of before the erasure, in the slice and in the overlap; perhaps without any.

    Whatever a sender's clock says: what a request asks about was said before it was made.
    """
    if not fences:
        return request
    if any(request.requested_at <= fence.at for fence in fences):
        return replace(request, messages=(), overlap=())

    def stays(message: SliceMessage) -> bool:
        return not any(fence.refuses(message.timestamp, request.partition, message.position) for fence in fences)

    messages, overlap = filter(stays, request.messages), filter(stays, request.overlap)
    return replace(request, messages=tuple(messages), overlap=tuple(overlap))


def still_answerable(request: ExtractionRequest, fences: Sequence[Fence]) -> ExtractionRequest:
    """What may still be asked: of a summary nothing once a message is erased, as what it goes on from may tell of that one."""
    left = without_erased(request, fences)
    return replace(left, messages=(), overlap=()) if request.purpose == "summarise" and left != request else left


def nothing_of(request: ExtractionRequest) -> Answer | Summary:
    """The answer to a request of which nothing is left."""
    if request.purpose == "summarise":
        return Summary(provider=NOBODY, model=NOTHING, text="")
    return Answer(provider=NOBODY, model=NOTHING)


def proposals_without_erased(request: ExtractionRequest, answer: Answer, fences: Sequence[Fence]) -> Answer:
    """Without what comes of a message of before the erasure: the question may have been asked before that."""
    said = {message.message_id for message in without_erased(request, fences).messages}
    kept = tuple(each for each in answer.proposals if said.issuperset(each.message_ids))
    return answer if kept == answer.proposals else replace(answer, proposals=kept)


def summary_without_erased(request: ExtractionRequest, summary: Summary, fences: Sequence[Fence]) -> Summary:
    """Nothing once one of the messages is erased: nobody can tell which of its words are of that one."""
    whole = len(without_erased(request, fences).messages) == len(request.messages)
    return summary if whole or not summary.text else replace(summary, text="")
