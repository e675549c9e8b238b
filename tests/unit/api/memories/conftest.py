"""Asynchronous tests here run in virtual time: no test waits, and what takes hours is over at once."""

from tests.fakes.clock import pytest_asyncio_loop_factories as pytest_asyncio_loop_factories
