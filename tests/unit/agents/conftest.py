"""Asynchronous tests here run in virtual time: no test waits, and what takes hours is over at once."""

from hypothesis import HealthCheck, settings

from tests.fakes.clock import VirtualLoop

# Machines that are busy with something else must not fail a test.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


def pytest_asyncio_loop_factories(config, item):
    return {"virtual-time": VirtualLoop}
