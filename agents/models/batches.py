"""The port of model batches: questions that are submitted together and answered within a day at half the price."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from agents.models.calls.exchange import ModelReply
from agents.models.port import Answer, Context
from agents.models.prompts.questions import Question
from schemas.errors import MemstreamError, Rejected, Retryable
from schemas.extraction.requests import ExtractionRequest
from schemas.policies.policies import Policy


class SubmissionUnknown(Retryable):
    """It is unknown whether the provider accepted the batch: search for it before submitting it again."""


class BatchNotFound(MemstreamError):
    """The provider no longer has the batch or its results."""


class NoReply(Struct, frozen=True):
    """A question of a batch got no reply, for a `reason` in the provider's words. A single call may get a reply."""

    reason: str


# Rejected: the question can never be answered.
BatchReply: TypeAlias = ModelReply | NoReply | Rejected


class ListedBatch(Struct, frozen=True, kw_only=True):
    """A batch in the provider's list, by any submitter."""

    provider_id: str
    requests: int
    ended: bool


class ModelBatches(Protocol):
    """The batches of one model. Questions are identified by the ids of their requests. Every method raises Retryable for
    temporary failures, and Misconfigured.

    `name` is the provider's. `leaves_machine`: questions are sent to another machine.
    """

    name: str
    leaves_machine: bool

    def fits(self, request: ExtractionRequest) -> bool:
        """Whether this request may go into a batch."""

    def question(self, request: ExtractionRequest, context: Context) -> Question[Any]:
        """The question for a request. Raises Rejected if it is not allowed."""

    async def reserve(self, question: Question[Any]) -> str | None:
        """Reserves the question's maximum cost until its reply arrives; None without budgets.

        Raises Deferred `budget`, as a call would.
        """

    async def release(self, request: ExtractionRequest, policy: Policy, reservation: str) -> None:
        """Releases the reservation of a question without a reply."""

    async def submit(self, questions: Mapping[str, Question[Any]]) -> str:
        """Submits a batch once, and returns the provider's id of it.

        Raises SubmissionUnknown; Retryable if it was not accepted but may be later; Rejected if it never will be.
        """

    async def ended(self, provider_id: str) -> bool:
        """Whether the batch has ended. Raises BatchNotFound."""

    def replies(self, provider_id: str) -> AsyncGenerator[tuple[str, BatchReply], None]:
        """The replies of an ended batch in any order. Close the iterator if you do not read to the end.

        Raises BatchNotFound.
        """

    async def since(self, moment: datetime) -> Sequence[ListedBatch]:
        """All batches created since that moment, newest first, including those that others submitted with the same account."""

    async def answer(
        self, request: ExtractionRequest, context: Context, reply: ModelReply | Rejected, reservation: str | None
    ) -> Answer:
        """Parses, checks and bills a reply as if a call had returned it. One further call repairs an incomplete reply.

        `context` is the question's. Raises as Provider.extract does; if `reply` is an error, raises it.
        """


@runtime_checkable
class BatchProvider(Protocol):
    """A provider that supports batches."""

    def batches(self) -> ModelBatches:
        """The batches of the same model."""
