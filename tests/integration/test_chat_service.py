"""The example that the README shows to chat services does what it says."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

from deploy.embedded.stack import EmbeddedStack
from tests.deployment import Deployment, deployed

EXAMPLE = Path(__file__).parents[2] / "deploy" / "samples" / "chat_service.py"


async def test_the_example_of_a_chat_service_is_told_what_is_remembered(embedded_stack: EmbeddedStack, tmp_path: Path):
    """It uses the topics' own names, so this deployment has no prefix."""
    few = {"conversation_partitions": 2, "namespace_partitions": 2}
    async with deployed(embedded_stack, "example", tmp_path, topic_prefix="", start_from="now", **few) as deployment:
        await deployment.worker()
        printed = await run_example(deployment)
        rows = await deployment.fetch("SELECT namespace, kind, text FROM memories")
    assert len(printed) == len(rows) >= 2
    for row in rows:
        assert f"{row['namespace']}: created {row['kind']}: {row['text']}" in printed
    assert "allergic to peanuts" in json.dumps(printed)


async def run_example(deployment: Deployment) -> list[str]:
    """Lines printed by the example as a process of its own, with only the broker's address."""
    command = [sys.executable, str(EXAMPLE), deployment.settings.bootstrap_servers]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()
