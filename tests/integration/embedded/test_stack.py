"""The three servers as one."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from aiokafka.client import AIOKafkaClient
from qdrant_client import AsyncQdrantClient

from deploy.embedded.errors import EmbeddedPartFailed
from deploy.embedded.process import module_environment
from deploy.embedded.stack import EmbeddedStack, Ports

PARENT = """
import asyncio, sys
from pathlib import Path
from deploy.embedded.stack import EmbeddedStack
stack = EmbeddedStack(Path({data!r}), Path({cache!r}))
asyncio.run(stack.start())
print(stack.broker.pid, stack.postgres.pid, stack.vectors.pid, flush=True)
sys.stdin.read()
"""


async def test_kafka_postgres_and_qdrant_are_reachable(embedded_stack: EmbeddedStack):
    kafka = AIOKafkaClient(bootstrap_servers=embedded_stack.bootstrap_servers)
    await kafka.bootstrap()
    await kafka.close()
    postgres = await asyncpg.connect(embedded_stack.dsn)
    assert await postgres.fetchval("SELECT current_database()") == "memstream"
    await postgres.close()
    qdrant = AsyncQdrantClient(url=embedded_stack.qdrant_url, check_compatibility=False)
    assert (await qdrant.info()).version
    await qdrant.close()


async def test_a_data_directory_in_use_is_rejected(embedded_stack: EmbeddedStack, cache_dir: Path):
    with pytest.raises(EmbeddedPartFailed, match="another memstream uses"):
        await EmbeddedStack(embedded_stack.data_dir, cache_dir).start()


async def test_a_failed_server_start_stops_all_servers(embedded_stack: EmbeddedStack, cache_dir: Path, tmp_path: Path):
    taken = int(embedded_stack.qdrant_url.rpartition(":")[2])
    stack = EmbeddedStack(tmp_path, cache_dir, Ports(qdrant=taken))
    with pytest.raises(EmbeddedPartFailed, match=f"vectors: port {taken}"):
        await stack.start()
    for part in (stack.broker, stack.postgres, stack.vectors):
        assert part._process is None or not part._process.running
    assert stack._lock is None


def test_every_server_is_gone_after_the_parent_was_killed(
    parent: Any, until: Any, gone: Any, cache_dir: Path, tmp_path: Path
):
    process, pids = parent(PARENT.format(data=str(tmp_path), cache=str(cache_dir)))
    assert len(pids) == 3
    assert not any(gone(pid) for pid in pids)
    process.kill()
    until(lambda: all(gone(pid) for pid in pids))


def test_the_foreground_stack_prints_one_json_line_and_exits_cleanly_on_sigterm(cache_dir: Path, tmp_path: Path):
    command = [sys.executable, "-m", "deploy.embedded.stack", str(tmp_path), str(cache_dir)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=module_environment(), text=True, **pipes) as process:
        assert process.stdout is not None
        addresses = json.loads(process.stdout.readline())
        process.terminate()
        rest, progress = process.communicate(timeout=60)
    assert set(addresses) == {"bootstrap_servers", "dsn", "qdrant_url"}
    assert rest == ""
    assert all(f"{part} is ready" in progress for part in ("Kafka", "PostgreSQL", "Qdrant"))
    assert process.returncode == 0


async def test_a_start_that_is_cancelled_leaves_nothing_running(cache_dir: Path, tmp_path: Path):
    stack = EmbeddedStack(tmp_path, cache_dir)
    start = asyncio.create_task(stack.start())
    while stack.vectors._process is None or not stack.vectors._process.running:
        assert not start.done()
        await asyncio.sleep(0.01)
    start.cancel()
    with pytest.raises(asyncio.CancelledError):
        await start
    for part in (stack.broker, stack.postgres, stack.vectors):
        assert part._process is None or not part._process.running
    assert len(asyncio.all_tasks()) == 1, "what goes on would start a server that nobody stops"
