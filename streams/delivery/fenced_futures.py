"""Keeps futures of a fenced transaction, which aiokafka leaves behind, out of the log: the error was raised where it
matters."""

import logging

from aiokafka.errors import InvalidProducerEpoch, ProducerFenced

FENCED = (ProducerFenced, InvalidProducerEpoch)


class FencedFutures(logging.Filter):
    """A log filter that drops asyncio's complaint about futures with an unread error, if the error is a fenced producer's.

    aiokafka (0.14) sets that error on internal futures, one per transaction and one per batch, which callers cannot await.
    The committing code still gets it: the changelog raises Fenced.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        return not (isinstance(error, FENCED) and "never retrieved" in record.getMessage())


def leave_out_fenced_futures() -> None:
    """Installs the filter in this process."""
    asyncio_log = logging.getLogger("asyncio")
    if not any(isinstance(each, FencedFutures) for each in asyncio_log.filters):
        asyncio_log.addFilter(FencedFutures())
