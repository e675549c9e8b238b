"""Profiles on a real database follow every change of a namespace's memories and keep nothing deleted."""

from typing import TYPE_CHECKING

from agents.profile.profile_reader import Profiles
from schemas.memories.commands import Command
from schemas.policies.policies import Policy
from sinks.memories.live import LiveMemories
from tests.integration.curation_bench import NOON

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench

POLICY = Policy(name="default")


async def test_a_profile_follows_deletions_undos_and_erasures(bench: "Bench") -> None:
    profiles = Profiles(LiveMemories(bench.pool), len, lambda: NOON)

    async def last_line() -> tuple[str, str]:
        made = await profiles.of(("n",), POLICY)
        return made.text.rpartition("\n- ")[2], made.version

    nothing = await last_line()
    memory = await bench.remember("User is allergic to peanuts")
    first = await last_line()
    assert first[0] == "User is allergic to peanuts"
    for number, (kind, expected) in enumerate((("delete", nothing), ("undo", first), ("purge", nothing))):
        command = Command(
            command_id=f"c{number}",
            kind=kind,
            namespace="n",
            at=NOON,
            memory_id=None if kind == "purge" else memory.memory_id,
        )
        await bench.curator.apply_command(command)
        assert await last_line() == expected, kind
