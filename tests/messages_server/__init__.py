"""A local Anthropic Messages server, for tests and the demonstration: it checks requests as the API does, answers them by
rules, counts its prompt cache and rate limits, works off batches, and has the API's faults on demand."""

from tests.messages_server.checks import KEY, MODELS
from tests.messages_server.faults import FAULTS
from tests.messages_server.rates import Rates
from tests.messages_server.server import MessagesServer

__all__ = ["FAULTS", "KEY", "MODELS", "MessagesServer", "Rates"]
