"""Asynchronous tests here run in virtual time: no test waits, and what takes hours is over at once."""

from tests.fakes.clock import VirtualLoop


def pytest_asyncio_loop_factories(config, item):
    return {"virtual-time": VirtualLoop}
