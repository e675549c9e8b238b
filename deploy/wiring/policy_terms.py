"""What a process goes by and keeps up to date: the policies, and the terms on which windows are kept under them."""

from contextlib import AsyncExitStack
from datetime import UTC, datetime

from agents.policies.reader import CurrentPolicies
from agents.windows.terms import WindowTerms
from deploy.settings import Settings
from deploy.wiring import connections, models
from deploy.wiring.periodic import PeriodicTasks
from schemas.kafka.records import Publisher
from sinks.extraction.calibrations import Calibrations
from sinks.postgres.connection import Pool

FOLLOW_S = 0.2
CALIBRATE_S = 60.0


async def current_policies(
    settings: Settings, publisher: Publisher, resources: AsyncExitStack, chores: PeriodicTasks
) -> CurrentPolicies:
    """Read to their end before anything is decided by them."""
    topic = await resources.enter_async_context(connections.policy_topic(settings))
    policies = CurrentPolicies(settings.policies(), topic, publisher, lambda: datetime.now(UTC))
    await policies.read()
    chores.add("policies", FOLLOW_S, policies.follow)
    return policies


async def window_terms(settings: Settings, policies: CurrentPolicies, pool: Pool, chores: PeriodicTasks) -> WindowTerms:
    """Under the policies as they are, for models as far as they are known."""
    terms = WindowTerms(policies.now, models.model_limits(settings), models.most_slice_tokens(settings))
    policies.add_listener(terms.governed)
    calibrations = Calibrations(pool)

    async def calibrate() -> None:
        terms.calibrated(await calibrations.all())

    await calibrate()
    chores.add("calibration", CALIBRATE_S, calibrate)
    return terms
