"""PostgreSQL lists the namespaces with memories that match the patterns of a key."""

from typing import TYPE_CHECKING

from schemas.memories.commands import Command
from sinks.memories.namespaces import Namespaces
from tests.integration.curation_bench import NOON

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench


async def test_namespaces_matching_a_pattern_are_listed_while_they_contain_memories(bench: "Bench") -> None:
    directory = Namespaces(bench.pool)
    for namespace in ("app/ada", "app/b_b", "app/bob", "other%/eve", "other/eve"):
        for text in ("User lives in Ghent", "User keeps bees"):
            await bench.curator.curate(bench.batch(bench.candidate(text), namespace=namespace))

    async def listed(*patterns: str, containing: str = "", after: str = "", limit: int = 10) -> list[tuple[str, int]]:
        found = await directory.page(patterns, containing=containing, after=after, limit=limit)
        return [(each.namespace, each.live) for each in found]

    assert await listed("app/*") == [("app/ada", 2), ("app/b_b", 2), ("app/bob", 2)]
    assert await listed("app/b_b", "other%/*") == [("app/b_b", 2), ("other%/eve", 2)]
    assert await listed("*", containing="EVE", limit=1) == [("other%/eve", 2)]
    assert await listed("*", containing="eve", after="other%/eve") == [("other/eve", 2)]
    assert await listed() == []
    assert [each.namespace for each in await directory.largest(("app/b*",), containing="", limit=1)] == ["app/b_b"]
    await bench.curator.apply_command(Command(command_id="c1", kind="purge", namespace="app/ada", at=NOON))
    assert await listed("app/*") == [("app/b_b", 2), ("app/bob", 2)]
