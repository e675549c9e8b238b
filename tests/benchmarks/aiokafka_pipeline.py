"""A minimal aiokafka consumer: parses the JSON, counts and commits. Runs until it is killed."""

import asyncio
import time

import orjson
from aiokafka import AIOKafkaConsumer

from tests.benchmarks.signals import COMMIT_INTERVAL_S, READ_AT_ONCE, FirstRecord, Job


async def run(job: Job) -> None:
    first, seen, commit_at = FirstRecord(), 0, 0.0
    consumer = AIOKafkaConsumer(
        job.topic,
        bootstrap_servers=job.bootstrap_servers,
        group_id=job.group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    async with consumer:
        while True:
            for records in (await consumer.getmany(timeout_ms=100, max_records=READ_AT_ONCE)).values():
                first.seen()
                seen += sum(1 for record in records if orjson.loads(record.value)["conversation_id"])
            if seen and time.monotonic() >= commit_at:
                await consumer.commit()
                commit_at = time.monotonic() + COMMIT_INTERVAL_S


if __name__ == "__main__":
    asyncio.run(run(Job.given()))
