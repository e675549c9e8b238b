"""A local Anthropic Messages server, for tests and the demonstration: it checks requests as the API does, answers them by
rules, counts its prompt cache and rate limits, works off batches, and has the API's faults on demand."""

from tests.servers.messages.checks import KEY, MODELS
from tests.servers.messages.faults import FAULTS
from tests.servers.messages.rates import Rates
from tests.servers.messages.server import MessagesServer

__all__ = ["FAULTS", "KEY", "MODELS", "MessagesServer", "Rates"]
