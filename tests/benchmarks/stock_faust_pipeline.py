"""The work of the window stage in stock Faust, event by event, with a table on RocksDB. Runs until it is killed."""

import asyncio
import logging
from typing import Any

import faust

from tests.benchmarks.signals import COMMIT_INTERVAL_S, FirstRecord, Job
from tests.benchmarks.windows_by_event import WindowsByEvent

TABLE = "windows"


def changelog_of(job: Job) -> str:
    """Returns the changelog's name, as Faust builds it."""
    return f"{job.group}-{TABLE}-changelog"


def stock_app(job: Job) -> faust.App:
    app = faust.App(
        job.group,
        broker=f"kafka://{job.bootstrap_servers}",
        store="rocksdb://",
        datadir=job.directory,
        web_enabled=False,
        topic_partitions=job.partitions,
        topic_disable_leader=True,
        broker_commit_interval=COMMIT_INTERVAL_S,
        stream_wait_empty=False,
        table_standby_replicas=0,
    )
    raw: dict[str, Any] = {"key_type": bytes, "value_type": bytes}
    table = app.Table(TABLE, partitions=job.partitions, **raw)
    windows, first = WindowsByEvent(), FirstRecord()

    @app.agent(app.topic(job.topic, key_serializer="raw", value_serializer="raw", **raw))
    async def update(stream: Any) -> None:
        seen = 0
        async for event in stream.events():
            first.seen()
            if seen == job.most:
                await asyncio.Event().wait()  # exactly so many are applied and committed
            seen += 1
            message = event.message
            for key, row in windows.apply(event.value, message.partition, message.offset, table.get).items():
                if row is None:
                    table.pop(key, None)
                else:
                    table[key] = row

    return app


if __name__ == "__main__":
    logging.basicConfig(level=logging.ERROR)  # Faust would leave every logger at DEBUG, which costs it 8 %
    worker = faust.Worker(stock_app(Job.given()), override_logging=False, quiet=True, redirect_stdouts=False)
    worker.execute_from_commandline()
