"""Splits an answer about slices of several conversations: each draft belongs to the conversation whose messages it cites."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agents.models.answers.candidates import CheckedDrafts, check_drafts
from agents.models.answers.drafts import Draft, as_draft
from agents.models.answers.texts import UnusableText
from agents.models.port import Context
from schemas.extraction.requests import ExtractionRequest
from streams.windows.tokens.counting import TokenCount

SEVERAL_CONVERSATIONS: Final = "conversations"


class MessageNumbers(Struct, frozen=True):
    """The message numbers of a slice: its own from `first`, and those before it up to `before`."""

    first: int
    before: int
    request: ExtractionRequest

    def own(self, number: int) -> int | None:
        """The number within the slice; None if it belongs to another slice."""
        if self.first <= number < self.first + len(self.request.messages):
            return number - self.first + 1
        if self.before - len(self.request.overlap) < number <= self.before:
            return number - self.before
        return None


def check_shared(
    drafts: Iterable[object], requests: Sequence[ExtractionRequest], context: Context, count_tokens: TokenCount
) -> tuple[CheckedDrafts, ...]:
    """The checked drafts of each slice, in order. A draft that cites several conversations is rejected: if one of them were
    erased, nobody could tell which words of the memory came from it."""
    numbers = tuple(numbered(requests))
    own: list[list[object]] = [[] for _ in requests]
    rejected = [Counter[str]() for _ in requests]
    places: dict[int, tuple[int, int]] = {}
    for place, draft in enumerate(drafts, start=1):
        cited = slices_cited(draft, numbers)
        slice_ = min(cited, default=0)
        if len(cited) > 1:
            rejected[slice_][SEVERAL_CONVERSATIONS] += 1
        else:
            own[slice_].append(draft)
            places[place] = slice_, len(own[slice_])
    made = (
        check_drafts(
            [renumbered(each, at, numbers[at], places) for each in own[at]], request, context, count_tokens, requests
        )
        for at, request in enumerate(requests)
    )
    return tuple(
        CheckedDrafts(each.proposals, dict(rejected[at] + Counter(each.rejected))) for at, each in enumerate(made)
    )


def numbered(requests: Iterable[ExtractionRequest]) -> Iterable[MessageNumbers]:
    """The message numbers of each slice in a prompt that they share."""
    first, before = 1, 0
    for request in requests:
        yield MessageNumbers(first, before, request)
        first, before = first + len(request.messages), before - len(request.overlap)


def slices_cited(draft: object, numbers: Sequence[MessageNumbers]) -> set[int]:
    """The places of the slices that a draft cites; empty for an invalid draft."""
    try:
        sound = as_draft(draft)
    except UnusableText:
        return set()
    cited = [*sound.messages, *([sound.forget] if sound.forget else [])]
    return {at for at, each in enumerate(numbers) if any(each.own(number) is not None for number in cited)}


def renumbered(draft: object, at: int, numbers: MessageNumbers, places: dict[int, tuple[int, int]]) -> object:
    """The draft with the numbers of its own slice; an invalid draft is unchanged. `places` has, for each draft of the
    answer, its slice and its place among that slice's drafts."""
    try:
        sound: Draft = as_draft(draft)
    except UnusableText:
        return draft
    messages = [own for each in sound.messages if (own := numbers.own(each)) is not None]
    corrects = [found[1] for each in sound.corrects if (found := places.get(each)) and found[0] == at]
    unknown = len(numbers.request.messages) + 1
    forget = (numbers.own(sound.forget) or unknown) if sound.forget else None
    return replace(sound, messages=messages, corrects=corrects, forget=forget)
