"""Wires the current policies and the terms of windows, and keeps both up to date."""

from contextlib import AsyncExitStack

from agents.policies.reader import CurrentPolicies
from agents.windows.terms import WindowTerms
from deploy.settings import Settings
from deploy.wiring import connections, models
from deploy.wiring.clock import now
from deploy.wiring.periodic import PeriodicTasks
from schemas.kafka.records import Publisher
from sinks.extraction.calibrations import Calibrations
from sinks.postgres.connection import Pool

FOLLOW_S = 0.2
CALIBRATE_S = 60.0


async def current_policies(
    settings: Settings, publisher: Publisher, resources: AsyncExitStack, periodic_tasks: PeriodicTasks
) -> CurrentPolicies:
    """The current policies, read to their end before they are used, then followed."""
    topic = await resources.enter_async_context(connections.policy_topic(settings))
    policies = CurrentPolicies(settings.policies(), topic, publisher, now)
    await policies.read()
    periodic_tasks.add("policies", FOLLOW_S, policies.follow)
    return policies


async def window_terms(
    settings: Settings, policies: CurrentPolicies, pool: Pool, periodic_tasks: PeriodicTasks
) -> WindowTerms:
    """The terms of windows under the current policies and calibrations."""
    terms = WindowTerms(policies.now, models.model_limits(settings), models.slice_token_limit(settings))
    policies.add_listener(terms.governed)
    calibrations = Calibrations(pool)

    async def calibrate() -> None:
        terms.calibrated(await calibrations.all())

    await calibrate()
    periodic_tasks.add("calibration", CALIBRATE_S, calibrate)
    return terms
