"""Compares workers' stores with the changelog after a run: each must equal the changelog at the store's offset."""

import asyncio
from pathlib import Path
from typing import Any

from deploy.settings import Settings
from deploy.wiring.follow import follow
from streams.delivery.store import RocksStore


async def differing(settings: Settings, directory: Path) -> list[str]:
    """Describes each row in which a store below the directory differs from the changelog. No worker may run, and the changelog
    must not be compacted yet.
    """
    changelog = settings.topics().changelog.removeprefix(settings.topic_prefix)
    records: dict[int, list[Any]] = {}
    async for record in follow(settings, changelog, from_beginning=True, until_end=True):
        records.setdefault(record.partition, []).append(record)
    return await asyncio.to_thread(compared, directory, records)


def compared(directory: Path, records: dict[int, list[Any]]) -> list[str]:
    stores = sorted(directory.glob("*/worker/*/tables/windows/*"))
    return [entry for path in stores for entry in compared_with(path, records.get(int(path.name), []))]


def compared_with(path: Path, records: list[Any]) -> list[str]:
    store = RocksStore(path)
    try:
        found, offset = dict(store.scan()), store.mark.offset
    finally:
        store.close()
    latest = {record.key: record.value for record in records if record.offset < offset}
    known = {key: value for key, value in latest.items() if value is not None}
    wrong = [key for key in known.keys() | found.keys() if known.get(key) != found.get(key)]
    return [f"row {key!r} of {path} is not what the changelog says before offset {offset}" for key in sorted(wrong)]
