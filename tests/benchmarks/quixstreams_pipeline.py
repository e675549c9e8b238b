"""The work of the window stage in quixstreams, message by message, with state on RocksDB. Runs until it is killed.

It runs in an environment of its own (quixstreams.lock), because its pins conflict with memstream's.
"""

from typing import Any

from quixstreams import Application, State, message_context

from tests.benchmarks.signals import COMMIT_INTERVAL_S, FirstRecord, Job
from tests.benchmarks.windows_by_event import WindowsByEvent


def run(job: Job) -> None:
    """Delivery is at least once, quixstreams' default."""
    app = Application(
        job.bootstrap_servers,
        consumer_group=job.group,
        state_dir=job.directory,
        commit_interval=COMMIT_INTERVAL_S,
        auto_offset_reset="earliest",
        loglevel="WARNING",
    )
    windows, first = WindowsByEvent(), FirstRecord()

    def update(value: bytes, _key: Any, _timestamp: int, _headers: Any, state: State) -> None:
        first.seen()
        context = message_context()
        for key, row in windows.apply(value, context.partition, context.offset, state.get_bytes).items():
            if row is None:
                state.delete(key)
            else:
                state.set_bytes(key, row)

    topic = app.topic(job.topic, key_deserializer="bytes", value_deserializer="bytes")
    app.dataframe(topic).update(update, stateful=True, metadata=True)
    app.run()


if __name__ == "__main__":
    run(Job.given())
