"""Asynchronous tests here run in virtual time: no test waits, and what takes hours is over at once."""

from hypothesis import HealthCheck, settings

from tests.fakes.clock import VirtualLoop

# Machines that are busy with something else must not fail a test. Every run tries the same examples;
# `pytest tests/unit/delivery --hypothesis-profile=search` tries others.
settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("unhurried", settings.get_profile("search"), derandomize=True)
settings.load_profile("unhurried")


def pytest_asyncio_loop_factories(config, item):
    return {"virtual-time": VirtualLoop}
