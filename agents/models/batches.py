"""The port of model batches: questions handed in together, answered within a day at half the price."""

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


class Unsure(Retryable):
    """Whether the provider took the batch is not known: it must be looked for before it is handed in again."""


class Lost(MemstreamError):
    """The provider has no such batch, or its results no longer."""


class Unanswered(Struct, frozen=True):
    """A question of a batch got no reply, and might get one if it is asked alone."""

    reason: str


# Rejected: this question can never be answered.
Reply: TypeAlias = ModelReply | Unanswered | Rejected


class Listed(Struct, frozen=True, kw_only=True):
    """A batch as the provider lists it, whoever handed it in."""

    provider_id: str
    requests: int
    ended: bool


class ModelBatches(Protocol):
    """Questions go by the ids of their requests. Every method raises Retryable for what may pass, and Misconfigured.

    `name` is the provider's; `leaves_machine` says whether what is asked is sent to another machine.
    """

    name: str
    leaves_machine: bool

    def fits(self, request: ExtractionRequest) -> bool:
        """Whether this request may go into a batch."""

    def question(self, request: ExtractionRequest, context: Context) -> Question[Any]:
        """What the provider asks about a request. Raises Rejected when it cannot be asked."""

    async def reserve(self, question: Question[Any]) -> str | None:
        """Keeps what the question may cost of its budgets until its reply is there; None if nobody counts.

        Raises Deferred `budget`, as asking would.
        """

    async def release(self, request: ExtractionRequest, policy: Policy, reservation: str) -> None:
        """Gives back what was kept for a question that gets no reply."""

    async def submit(self, questions: Mapping[str, Question[Any]]) -> str:
        """Hands a batch in, once, and returns the provider's id of it.

        Raises Unsure, Retryable when it was not taken and may be another time, Rejected when it never will be.
        """

    async def ended(self, provider_id: str) -> bool:
        """Whether its replies are there. Raises Lost."""

    def replies(self, provider_id: str) -> AsyncGenerator[tuple[str, Reply], None]:
        """What came of an ended batch, one question at a time, in any order. To be closed by who does not read to the end.

        Raises Lost.
        """

    async def since(self, moment: datetime) -> Sequence[Listed]:
        """Every batch made since, newest first, also those of others who use the same account."""

    async def answer(
        self, request: ExtractionRequest, context: Context, reply: ModelReply | Rejected, reservation: str | None
    ) -> Answer:
        """A reply, read, checked and booked as that of a call; one that is not whole is mended by one call of its own.

        `context` is what the question was made of. Raises as a provider does, which includes the `reply`.
        """


@runtime_checkable
class Batching(Protocol):
    """A provider that takes batches as well."""

    def batches(self) -> ModelBatches:
        """Of questions to the same model."""
