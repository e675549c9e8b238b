"""Budget reservations of batched requests: settled with the reply, released without one."""

from agents.models.batches import ModelBatches
from schemas import codec
from schemas.errors import Rejected
from schemas.extraction.requests import ExtractionRequest
from schemas.policies.policies import PolicySelector
from sinks.extraction.batches import Batches, Member


class BatchReservations:
    """Releases the reservations of members without a reply. A reply settles its own."""

    def __init__(self, batches: Batches, provider: ModelBatches, policies: PolicySelector) -> None:
        self._batches = batches
        self._provider = provider
        self._policies = policies

    async def release(self, member: Member) -> None:
        """Releases the reservation of a member that leaves the batch. A single call reserves again."""
        if member.reservation is None:
            return
        try:
            request = codec.decode(member.parked.value, ExtractionRequest)
        except Rejected:
            return  # it becomes a dead letter, and its reservation expires after a day
        await self._provider.release(request, self._policies.by_name(request.policy), member.reservation)

    async def end(self, batch_key: str, owner: str, reason: str) -> None:
        """Ends the batch: single calls answer its remaining requests."""
        for member in await self._batches.members(batch_key):
            await self.release(member)
        await self._batches.end(batch_key, owner, reason)
