"""Runs the offline provider on texts."""

from agents.models.offline.provider import OfflineProvider
from agents.models.port import Proposal
from schemas.policies.policies import Policy
from tests.builders.slices import knowing, slice_of


async def proposals(*texts: str, related: tuple[str, ...] = (), policy: Policy | None = None) -> tuple[Proposal, ...]:
    context = knowing(*related, policy=policy or Policy(name="test"))
    return (await OfflineProvider().extract(slice_of(*texts), context)).proposals
