"""The LLM stage's port: what every provider is asked, and what it answers."""

from collections.abc import Sequence
from typing import Annotated, Literal, Protocol

from msgspec import Meta, Struct

from schemas.conversations.messages import Moment
from schemas.extraction.candidates import Candidate
from schemas.extraction.requests import ExtractionRequest
from schemas.memories import importance
from schemas.memories.memories import Memory
from schemas.policies.policies import Fraction, Policy


class Context(Struct, frozen=True, kw_only=True):
    """What a provider may know besides the slice: the policy, and the namespaces' most related live memories."""

    policy: Policy
    related: tuple[Memory, ...] = ()


class Proposal(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A memory as a provider proposes it, already checked against the slice.

    `message_ids` are ids of the slice's messages, at least one. `repeats`, `refines`, `contradicts` and `supersedes` are memory
    ids out of `Context.related`. `valid_from` and `valid_until` are when what is stated holds, as far as it was said. Without an
    importance the curator has it rated. Of a slice in which several people speak `namespaces` are those that it goes to, else all
    of the request; `sayers` are the user_ids of whoever said its messages, and `said_by` is what the one sayer is called where
    others feed a namespace too.
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
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    namespaces: tuple[str, ...] = ()
    sayers: tuple[str, ...] = ()
    said_by: str | None = None


class Usage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens as the provider bills them; `input_tokens` excludes what was read from or written to its cache.

    `batched`: all of them at the price of batches.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    batched: bool = False


class Call(Struct, frozen=True, kw_only=True):
    """One model call, measured: tokens of all that was sent as memstream counts them, and as they were billed, cached or not."""

    counted_tokens: int
    billed_tokens: int


class Answer(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="answers", tag="extraction"):
    """A provider's answer to one request; `rejected` counts proposals that failed the checks, by reason.

    `calls` are those of its model calls that teach how the model counts tokens. `ratings`, by message id, are how important
    messages are to the rest of their conversation, from 0 to 10, where the policy asks for that.
    """

    provider: str
    model: str
    proposals: tuple[Proposal, ...] = ()
    usage: Usage = Usage()
    rejected: dict[str, int] = {}
    calls: tuple[Call, ...] = ()
    ratings: dict[str, int] = {}


class Summary(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="answers", tag="summary"):
    """What a slice comes to, with what was known of earlier messages: one line of plain text, empty if there is nothing to tell.

    `calls` as an Answer's.
    """

    provider: str
    model: str
    text: str
    usage: Usage = Usage()
    calls: tuple[Call, ...] = ()


class Compaction(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="answers", tag="compaction"):
    """The one step that leaves one memory fewer, and why.

    `delete`: `memory_id` goes. `edit`: `memory_id` says `text` from now on, which holds what `absorbs` said, and that goes.
    """

    provider: str
    model: str
    action: Literal["delete", "edit"]
    memory_id: str
    reason: str
    text: str | None = None
    absorbs: str | None = None
    usage: Usage = Usage()
    calls: tuple[Call, ...] = ()


class Subject(Struct, frozen=True, kw_only=True):
    """A memory to be rated, stored or not: its fullest text, and how often it was said again or read. `namespace` pays."""

    text: str
    kind: str
    kinds: tuple[str, ...] = ()
    context: str | None = None
    references: int = 0
    namespace: str | None = None


class Rating(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="answers", tag="rating"):
    """How much a memory matters, in points from 0 to 10,000 and more (`schemas.memories.importance`), and why in a few words."""

    provider: str
    model: str
    points: Annotated[int, Meta(ge=0, le=importance.MOST_POINTS)]
    reason: str = ""
    usage: Usage = Usage()
    calls: tuple[Call, ...] = ()

    @property
    def importance(self) -> Fraction:
        return importance.of_points(self.points)


class ShortText(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="answers", tag="short_text"):
    """What of a memory's full text must be remembered, within the limits of the policy's short texts."""

    provider: str
    model: str
    text: str
    usage: Usage = Usage()
    calls: tuple[Call, ...] = ()


class Verdict(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a candidate is to memories of its namespace. `same` says what it says; where it tells more, `text` says all of both.
    `ends` no longer hold, nor does what the candidates of `corrects` say, which come before it."""

    candidate_id: str
    same: str | None = None
    text: str | None = None
    ends: tuple[str, ...] = ()
    corrects: tuple[str, ...] = ()


class Resolution(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="answers", tag="resolution"):
    """A verdict about each candidate that has to do with a memory, or with another candidate; none about the others."""

    provider: str
    model: str
    verdicts: tuple[Verdict, ...] = ()
    usage: Usage = Usage()
    calls: tuple[Call, ...] = ()


class Provider(Protocol):
    """Turns a slice into proposals or a summary; decides about memories, rates them and tells them in short."""

    name: str
    leaves_machine: bool
    """Whether what it is asked goes to another machine: policies may forbid that."""

    async def extract(self, request: ExtractionRequest, context: Context) -> Answer:
        """One model call for one slice; an empty answer means that nothing was worth keeping.

        Raises Retryable for outages, time-outs and rate limits, Rejected when this slice can never be answered
        (refused, too large), Misconfigured when no request can succeed (no key, unknown model).
        """

    async def summarise(self, request: ExtractionRequest, policy: Policy) -> Summary:
        """One model call for one slice and `request.summary`, which the new text replaces.

        At most `policy.window.summary_tokens` tokens and LONGEST_SUMMARY characters, in the conversation's language,
        without secrets. Raises as `extract` does.
        """

    async def compact(self, memories: Sequence[Memory], policy: Policy) -> Compaction:
        """One model call about a namespace with one memory too many: all of them, at least one, the newest last. Of very many
        only those that matter least are looked at.

        The answer names memories of those given. Raises as `extract` does: Rejected also for a decision that is none after
        a second attempt, so that the caller decides by a rule of its own.
        """

    async def score(self, subject: Subject, policy: Policy) -> Rating:
        """One model call. Raises as `compact` does."""

    async def shorten(self, full_text: str, policy: Policy, namespace: str | None = None) -> ShortText:
        """One model call, which `namespace` pays. The text has at most `policy.max_text_chars` characters, keeps the language of
        the full text and has no secrets. Raises as `compact` does."""

    async def resolve(
        self, candidates: Sequence[Candidate], memories: Sequence[Memory], policy: Policy, namespace: str
    ) -> Resolution:
        """One model call about candidates of one slice and the memories near them, all of one namespace, which pays. Ids of the
        answer are of those given. Rules have no verdicts. Raises as `compact` does."""

    async def trouble(self) -> str | None:
        """Why a request would have no chance now, and what to do about it; None if it has one. Cheap, never raises."""

    async def close(self) -> None:
        """Ends its connections."""
