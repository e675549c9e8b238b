"""Removes erased messages from requests, and proposals based on them from answers."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol, TypeAlias

from msgspec.structs import replace

from agents.models.port import Answer, Summary
from schemas.conversations.messages import Scope
from schemas.erasure.erasures import Fence
from schemas.extraction.requests import ExtractionRequest, SliceMessage

# By the user_id of the speaker; fences under None apply to all other messages.
SpeakerFences: TypeAlias = Mapping[str | None, Sequence[Fence]]

NO_PROVIDER, NO_MODEL = "memstream", "none"  # of an answer without a model call


class FenceStore(Protocol):
    """Implemented by sinks.extraction.answers.Extractions."""

    async def fences_of(self, scope: Scope, namespaces: Collection[str]) -> tuple[Fence, ...]: ...


async def fences_on(store: FenceStore, request: ExtractionRequest, namespaces: tuple[str, ...]) -> SpeakerFences:
    """The fences for each speaker's messages in a request that feeds these namespaces. Raises Retryable."""
    feeding = request.feeding(namespaces)
    return {user_id: await store.fences_of(scope, fed) for user_id, (scope, fed) in feeding.items()}


def without_erased(request: ExtractionRequest, fences: SpeakerFences) -> ExtractionRequest:
    """The request without the messages, in slice and overlap, that are older than an erasure of their speaker; possibly
    empty. Messages cannot be newer than their request, whatever their timestamps say."""
    if not any(fences.values()):
        return request

    def is_kept(message: SliceMessage) -> bool:
        return not any(
            request.requested_at <= fence.at or fence.refuses(message.timestamp, request.partition, message.position)
            for fence in fences_of(message, request, fences)
        )

    messages, overlap = filter(is_kept, request.messages), filter(is_kept, request.overlap)
    return replace(request, messages=tuple(messages), overlap=tuple(overlap))


def fences_of(message: SliceMessage, request: ExtractionRequest, fences: SpeakerFences) -> Sequence[Fence]:
    nobodys = fences.get(None, ())
    if message.role != "user":
        return nobodys
    own = fences.get(request.speaker(message), nobodys)
    return (*own, *nobodys) if message.unnamed else own


def still_answerable(request: ExtractionRequest, fences: SpeakerFences) -> ExtractionRequest:
    """The request without erased messages. A summary request with an erased message becomes empty, as the earlier summary
    may contain the message."""
    remaining = without_erased(request, fences)
    return (
        replace(remaining, messages=(), overlap=())
        if request.purpose == "summarise" and remaining != request
        else remaining
    )


def empty_answer(request: ExtractionRequest) -> Answer | Summary:
    """The answer to a request without messages."""
    if request.purpose == "summarise":
        return Summary(provider=NO_PROVIDER, model=NO_MODEL, text="")
    return Answer(provider=NO_PROVIDER, model=NO_MODEL)


def proposals_without_erased(request: ExtractionRequest, answer: Answer, fences: SpeakerFences) -> Answer:
    """The answer without proposals from erased messages: the model may have been called before the erasure."""
    said = {message.message_id for message in without_erased(request, fences).messages}
    remaining = tuple(each for each in answer.proposals if said.issuperset(each.message_ids))
    ratings = {message_id: rating for message_id, rating in answer.ratings.items() if message_id in said}
    if remaining == answer.proposals and ratings == answer.ratings:
        return answer
    return replace(answer, proposals=remaining, ratings=ratings)


def summary_without_erased(request: ExtractionRequest, summary: Summary, fences: SpeakerFences) -> Summary:
    """The summary; empty once one of the messages is erased, as any part of the text may come from it."""
    whole = len(without_erased(request, fences).messages) == len(request.messages)
    return summary if whole or not summary.text else replace(summary, text="")
