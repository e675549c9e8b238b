"""Runs asynchronous tests in virtual time: timers fire without waiting."""

from tests.fakes.clock import pytest_asyncio_loop_factories as pytest_asyncio_loop_factories
