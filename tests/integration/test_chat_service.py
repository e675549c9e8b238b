"""The samples for chat services work as documented."""

import asyncio
import subprocess
import sys
from pathlib import Path

from deploy.embedded.stack import EmbeddedStack
from deploy.runtime.dev import ready_path, running_api
from deploy.settings import Settings
from tests.deployment import deployed

SAMPLES = Path(__file__).parents[2] / "deploy" / "samples"


async def test_the_samples_publish_follow_memories_and_fetch_context(embedded_stack: EmbeddedStack, tmp_path: Path):
    """They use the default names of topics, so this deployment has no prefix."""
    few = {"conversation_partitions": 2, "namespace_partitions": 2, "api_port": 0}
    async with deployed(embedded_stack, "example", tmp_path, topic_prefix="", start_from="now", **few) as deployment:
        await deployment.worker()
        settings = deployment.settings.model_copy(update={"data_dir": tmp_path})
        async with running_api(settings):
            printed = await run_sample("chat_service.py", settings)
            again, *block = await run_sample("quickstart.py", settings)
        rows = await deployment.fetch("SELECT namespace, kind, text FROM memories")
    assert len(rows) >= 2
    for row in rows:
        assert f"{row['namespace']}: created {row['kind']}: {row['text']}" in printed
    first, second, later = turns(printed)
    assert first == ["(nothing is remembered yet)"]
    assert any("I'm allergic to peanuts" in line for line in second), (
        "the previous message, of which no memory is made yet"
    )
    assert any("User is allergic to peanuts." in line for line in later), "a memory of another conversation"
    assert again == "reinforced User is allergic to peanuts."
    assert any("User is allergic to peanuts." in line for line in block)


async def run_sample(name: str, settings: Settings) -> list[str]:
    """Lines printed by the sample, run in a process of its own with the addresses of the broker and the API."""
    address = ready_path("api", settings).read_text()
    command = [sys.executable, str(SAMPLES / name), settings.bootstrap_servers, address]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def turns(printed: list[str]) -> list[list[str]]:
    """The context of each turn, by lines."""
    contexts: list[list[str]] = []
    for line in printed:
        if line.startswith("> "):
            contexts.append([])
        elif line.startswith("  | "):
            contexts[-1].append(line.removeprefix("  | "))
    return contexts
