"""Explains in one line why no Kafka broker answers: the Kafka client logs the reasons, and raises an error without them."""

import logging
from typing import Final

from aiokafka.errors import KafkaConnectionError

REFUSED: Final = 'Unable connect to "%s:%s": %s'  # what aiokafka logs for each broker
NONE_LEFT: Final = "Unable to bootstrap"  # what it raises after the last one
REMEDY: Final = "start one (`memstream dev`), or check MEMSTREAM_BOOTSTRAP_SERVERS and the settings MEMSTREAM_KAFKA_..."


class UnreachableBrokers(logging.Filter):
    """Keeps the reasons, by address, and out of the log if that has no handlers: Python would print them."""

    def __init__(self) -> None:
        super().__init__()
        self._reasons: dict[str, str] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.msg != REFUSED or not isinstance(record.args, tuple):
            return True
        host, port, reason = record.args
        self._reasons[f"{host}:{port}"] = str(reason) or type(reason).__name__
        return logging.getLogger().hasHandlers()

    def explain(self, error: BaseException) -> str:
        """The reasons with the remedy if no broker answered, otherwise the error's own text."""
        cause = error.__cause__
        if not isinstance(cause, KafkaConnectionError) or NONE_LEFT not in str(cause):
            return str(error)
        reasons = "; ".join(f"{address}: {reason}" for address, reason in self._reasons.items()) or str(cause)
        return f"no Kafka broker answers ({reasons}): {REMEDY}"


unreachable_brokers: Final = UnreachableBrokers()
client_log: Final = logging.getLogger("aiokafka")
client_log.addFilter(unreachable_brokers)
client_log.setLevel(logging.ERROR)  # warnings about attempts that the client repeats would be printed as well
