"""Stock Faust on the same messages, as in its documentation: one agent, one table, one write a message.

It imports nothing of memstream's delivery. A conversation's row lists the ids of its messages that were applied.
"""

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import faust

from deploy.settings import Settings, load
from schemas.kafka import topics

TABLE = "seen"
WORK_S = 0.001  # of waiting for something else, a message, so that there is a backlog


def group(settings: Settings) -> str:
    return settings.topics().group("stock")


def changelog(settings: Settings) -> str:
    """Returns the changelog's name, as Faust builds it."""
    return f"{group(settings)}-{TABLE}-changelog"


def stock_app(settings: Settings, ready_file: Path) -> faust.App:
    """Sets only time-outs and intervals, so that a killed worker is noticed soon; delivery is Faust's own."""
    partitions = settings.conversation_partitions
    app = faust.App(
        group(settings),
        broker=f"kafka://{settings.bootstrap_servers}",
        store="rocksdb://",
        datadir=settings.data_dir,
        web_enabled=False,
        topic_partitions=partitions,
        topic_disable_leader=True,
        broker_session_timeout=settings.session_timeout_s,
        broker_heartbeat_interval=settings.heartbeat_interval_s,
        broker_commit_interval=1.0,
        table_standby_replicas=0,
    )
    said = app.topic(settings.topics().physical(topics.MESSAGES), value_type=bytes, value_serializer="raw")
    seen = app.Table(TABLE, partitions=partitions)

    @app.agent(said)
    async def remember(stream: Any) -> None:
        async for value in stream:
            message = json.loads(value)
            conversation = message["conversation_id"]
            seen[conversation] = [*(seen.get(conversation) or []), message["message_id"]]
            await asyncio.sleep(WORK_S)

    @app.on_rebalance_complete.connect
    def joined(*_: Any, **__: Any) -> None:
        ready_file.touch()

    return app


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ready-file", type=Path, required=True)
    app = stock_app(load(), parser.parse_args().ready_file)
    sys.exit(faust.Worker(app, loglevel="info").execute_from_commandline())
