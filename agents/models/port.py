"""The port of model providers: the questions of the LLM stage and their answers."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Annotated, Literal, Protocol

from msgspec import Meta, Struct, field

from schemas.conversations.messages import Moment
from schemas.extraction import importance
from schemas.extraction.candidates import Candidate, CandidateBatch
from schemas.extraction.requests import ExtractionRequest
from schemas.extraction.sentences import Sentence, SentenceScores
from schemas.memories.memories import Memory
from schemas.policies.policies import Fraction, Policy


class Context(Struct, frozen=True, kw_only=True):
    """The input of a provider besides the slice: the policy, and the most related live memories of the namespaces."""

    policy: Policy
    related: tuple[Memory, ...] = ()


def merge_contexts(contexts: Iterable[Context]) -> Context:
    """One context for slices that share a call under one policy: the nearest memories of each slice first, up to the
    policy's number for each slice."""
    contexts = tuple(contexts)
    in_turn = (memory for each in zip_longest(*(context.related for context in contexts)) for memory in each if memory)
    found = {memory.memory_id: memory for memory in in_turn}
    policy = contexts[0].policy
    return Context(policy=policy, related=tuple(found.values())[: max(policy.related_memories, 1) * len(contexts)])


class WishRead(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A user's wish to forget something, as a model reads it. `asked_in` is the id of the message with the wish. The user wants
    forgotten: `everything` about the user, or the memories `memory_ids` of `Context.related` and the statements of the messages
    `said_in`, in the slice or before it."""

    asked_in: str
    everything: bool = False
    memory_ids: tuple[str, ...] = ()
    said_in: tuple[str, ...] = ()


class Proposal(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A memory that a provider proposes, already checked against the slice.

    `message_ids` are ids of the slice's messages, at least one. `repeats`, `refines`, `contradicts` and `supersedes` are
    memory ids of `Context.related`. `number` is the proposal's place in the model's answer, from 1; `corrects` has the
    numbers of the proposals that it corrects. `valid_from` and `valid_until` bound the time in which the statement holds, if
    the message says so. The curator has a missing importance rated.

    If several people speak in the slice: `namespaces` are those that the proposal goes to (otherwise all of the request),
    `speaker_ids` the user_ids of its messages' speakers, and `speaker_name` the name of a single speaker in a namespace that
    several people feed.

    A proposal with a `wish` is no memory: its text describes what a user wants forgotten.
    """

    kind: str
    text: str
    message_ids: tuple[str, ...]
    confidence: Fraction
    importance: Fraction | None = None
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    context: str | None = None
    full_text: str | None = None
    event_time: Moment | None = None
    language: str | None = None
    repeats: str | None = None
    refines: str | None = None
    contradicts: str | None = None
    supersedes: tuple[str, ...] = ()
    number: int = 0
    corrects: tuple[int, ...] = ()
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    namespaces: tuple[str, ...] = ()
    speaker_ids: tuple[str, ...] = field(default=(), name="sayers")
    speaker_name: str | None = field(default=None, name="said_by")
    wish: WishRead | None = None


class Usage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Billed tokens; `input_tokens` excludes cache reads and writes. `batched`: all at batch prices."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    batched: bool = False


class MeasuredCall(Struct, frozen=True, kw_only=True):
    """One measured model call: its prompt's tokens as memstream counts them, and as billed, cached or not."""

    counted_tokens: int
    billed_tokens: int


class Answer(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="answers", tag="extraction"):
    """A provider's answer to one request. `rejected` counts by reason the proposals that failed the checks.

    `calls` are measurements for the calibration of token counts. `ratings` has by message id how important a message is for
    the rest of its conversation (0 to 10), if the policy wants it.
    """

    provider: str
    model: str
    proposals: tuple[Proposal, ...] = ()
    usage: Usage = Usage()
    rejected: dict[str, int] = {}
    calls: tuple[MeasuredCall, ...] = ()
    ratings: dict[str, int] = {}

    @property
    def memories(self) -> tuple[Proposal, ...]:
        """The proposed memories, without wishes to forget."""
        return tuple(each for each in self.proposals if each.wish is None)


class Summary(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="answers", tag="summary"):
    """The summary of a slice and earlier summaries: one line of plain text, possibly empty. `calls` as in Answer."""

    provider: str
    model: str
    text: str
    usage: Usage = Usage()
    calls: tuple[MeasuredCall, ...] = ()


class Compaction(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="answers", tag="compaction"):
    """A step that reduces the memories by one, with its reason.

    `delete`: `memory_id` is deleted. `edit`: `memory_id` gets `text`, which includes the content of `absorbs`, and `absorbs`
    is deleted.
    """

    provider: str
    model: str
    action: Literal["delete", "edit"]
    memory_id: str
    reason: str
    text: str | None = None
    absorbs: str | None = None
    usage: Usage = Usage()
    calls: tuple[MeasuredCall, ...] = ()


class MemoryToRate(Struct, frozen=True, kw_only=True):
    """A memory to rate, stored or not. `references` is the number of times it was repeated or read. `namespace` pays."""

    text: str
    kind: str
    kinds: tuple[str, ...] = ()
    context: str | None = None
    references: int = 0
    namespace: str | None = None


class Rating(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="answers", tag="rating"):
    """The importance of a memory in points, from 0 to 10,000 and above (`schemas.extraction.importance`), with a short reason."""

    provider: str
    model: str
    points: Annotated[int, Meta(ge=0, le=importance.MOST_POINTS)]
    reason: str = ""
    usage: Usage = Usage()
    calls: tuple[MeasuredCall, ...] = ()

    @property
    def importance(self) -> Fraction:
        return importance.of_points(self.points)


class ShortText(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="answers", tag="short_text"):
    """A short text of a memory's full text, within the policy's limit."""

    provider: str
    model: str
    text: str
    usage: Usage = Usage()
    calls: tuple[MeasuredCall, ...] = ()


class Verdict(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The relation of a candidate to memories of its namespace.

    `same` is the memory with the same statement. If the candidate says more, `text` combines both; if the model's text is
    unusable, `says_more` is set instead. Memories in `ends` no longer hold, from `until` on if the candidate names the time.
    Memories in `untrue` were never true. `corrects` are earlier candidates that the candidate corrects."""

    candidate_id: str
    same: str | None = None
    text: str | None = None
    ends: tuple[str, ...] = ()
    until: Moment | None = None
    untrue: tuple[str, ...] = ()
    corrects: tuple[str, ...] = ()
    says_more: bool = False


class Resolution(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="answers", tag="resolution"):
    """Verdicts on candidates that are related to a memory or to another candidate; others have none."""

    provider: str
    model: str
    verdicts: tuple[Verdict, ...] = ()
    usage: Usage = Usage()
    calls: tuple[MeasuredCall, ...] = ()


class Provider(Protocol):
    """Extracts proposals and summaries from slices; decides about memories, rates and shortens them."""

    name: str
    leaves_machine: bool
    """Whether questions are sent to another machine, which policies may forbid."""
    shares_calls: bool
    """Whether one call for several slices costs less than a call for each."""

    async def extract(self, request: ExtractionRequest, context: Context) -> Answer:
        """One model call for one slice. An empty answer means that the slice has nothing to remember.

        Raises Retryable for outages, time-outs and rate limits; Rejected if this slice can never be answered (refused, too
        large); Misconfigured if no request can succeed (no key, unknown model).
        """

    async def extract_together(self, slices: Sequence[tuple[ExtractionRequest, Context]]) -> tuple[Answer, ...]:
        """One model call for slices of several conversations of one person and mode, under one policy. Returns an answer for
        each slice, in order. No slice may have several speakers. Raises as `extract` does; no slice is then answered, and the
        caller can extract from each alone."""

    async def summarise(self, request: ExtractionRequest, policy: Policy) -> Summary:
        """One model call for one slice and `request.summary`, which the new text replaces.

        At most `policy.window.summary_tokens` tokens and LONGEST_SUMMARY characters, in the conversation's language,
        without secrets. Raises as `extract` does.
        """

    async def compact(self, memories: Sequence[Memory], policy: Policy) -> Compaction:
        """One model call about a namespace with one memory too many. `memories` are all memories of the namespace, at least one,
        the newest last. If there are very many, the model sees the newest and the least important ones.

        The step names memories of those given. Raises as `extract` does, and Rejected after a second invalid decision: the
        caller then decides by a rule.
        """

    async def score(self, subject: MemoryToRate, policy: Policy) -> Rating:
        """One model call that rates a memory. Raises as `compact` does."""

    async def shorten(self, full_text: str, policy: Policy, namespace: str | None = None) -> ShortText:
        """One model call, paid by `namespace`. The text has at most `policy.max_text_chars` characters, the language of the
        full text, and no secrets. Raises as `compact` does."""

    async def resolve(
        self, candidates: Sequence[Candidate], memories: Sequence[Memory], policy: Policy, batch: CandidateBatch
    ) -> Resolution:
        """One model call that compares candidates of a batch with nearby memories. All are of the batch's namespace, which pays.
        The verdicts have the ids of these candidates and memories. Rules give no verdicts. Raises as `compact` does."""

    async def unavailable_reason(self) -> str | None:
        """The reason why a request would fail now, with the remedy; None if the provider is available. Cheap; never raises."""

    async def close(self) -> None:
        """Closes the provider's connections."""


class SentenceClassifier(Protocol):
    """Classifies the statements of sentences in English, German, French and Spanish."""

    async def classify(self, sentences: Sequence[Sentence]) -> list[SentenceScores | None]:
        """The scores of each sentence; None for one that is too long to be read whole. A sentence's scores do not depend on the
        other sentences (up to float rounding)."""

    def close(self) -> None:
        """Frees what the classifier holds."""
