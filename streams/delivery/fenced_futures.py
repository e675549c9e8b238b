"""Keeps what aiokafka leaves behind of a fenced transaction out of the log: its error has been raised where it counts."""

import logging

from aiokafka.errors import InvalidProducerEpoch, ProducerFenced

FENCED = (ProducerFenced, InvalidProducerEpoch)


class FencedFutures(logging.Filter):
    """Drops asyncio's complaint of futures whose error nobody looked at, where the error is a producer's being fenced.

    aiokafka (0.14) sets that error on futures of its own, one a transaction and one a batch, which nobody can await. Whoever
    committed is told: the changelog raises Fenced.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        return not (isinstance(error, FENCED) and "never retrieved" in record.getMessage())


def leave_out_fenced_futures() -> None:
    """For this process, from now on."""
    asyncio_log = logging.getLogger("asyncio")
    if not any(isinstance(each, FencedFutures) for each in asyncio_log.filters):
        asyncio_log.addFilter(FencedFutures())
