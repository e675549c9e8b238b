"""Kinds created by commands keep their description where the policy allows them, and are removed with their
memories."""

from typing import TYPE_CHECKING, Any

from schemas.memories.commands import Command
from schemas.policies.kinds import Kind
from schemas.policies.policies import Policies, Policy
from sinks.memories.kinds import Kinds, UsedKind

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench

DREAM = Kind(name="dream", description="What the user dreams of", icon="🌙")
OPEN = Policies((Policy(name="open", namespaces=("{user_id}",), unknown_kinds="create"),))
CLOSED = Policies((Policy(name="closed", namespaces=("{user_id}",), unknown_kinds="reject"),))


def command(bench: "Bench", kind: Any, command_id: str, **fields: Any) -> Command:
    return Command(**{"namespace": "ada", "at": bench.now()} | fields, command_id=command_id, kind=kind)


async def test_a_new_kind_is_stored_with_its_description_and_counted(bench: "Bench") -> None:
    bench.curator._policies = OPEN
    made = command(bench, "create", "1", text="User dreams of owls", memory_kind="dream", new_kinds=(DREAM,))
    await bench.curator.apply_command(made)
    await bench.curator.apply_command(
        command(bench, "create", "2", text="User dreams of the sea", memory_kind="omen", kinds=("dream",))
    )
    kinds = Kinds(bench.pool)
    assert await kinds.of("ada") == (
        UsedKind(name="dream", description=DREAM.description, icon="🌙", memories=2),
        UsedKind(name="omen", memories=1),
    )
    again = Kind(name="dream", description="What the user dreams at night")
    renamed = command(bench, "create", "3", text="User dreams of fire", memory_kind="dream", new_kinds=(again,))
    await bench.curator.apply_command(renamed)
    (dream, _) = await kinds.of("ada")
    assert (dream.description, dream.icon) == ("What the user dreams at night", "🌙"), "what is not said stays"
    assert await kinds.of("bob") == ()


async def test_a_command_with_a_new_kind_is_rejected_where_the_policy_forbids_new_kinds(bench: "Bench") -> None:
    bench.curator._policies = CLOSED
    made = command(bench, "create", "1", text="User dreams of owls", memory_kind="dream", new_kinds=(DREAM,))
    outcome = await bench.curator.apply_command(made)
    assert outcome.status == "rejected"
    assert "has no kind 'dream' and does not allow new ones" in (outcome.reason or "")
    assert await Kinds(bench.pool).of("ada") == ()
    assert bench.events() == []


async def test_secrets_in_the_description_of_a_kind_are_not_stored(bench: "Bench") -> None:
    bench.curator._policies = OPEN
    generated = Kind(name="key", description="As the key sk-ant-api03-EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLE")
    await bench.curator.apply_command(command(bench, "create", "1", text="User keeps keys", new_kinds=(generated,)))
    described = {kind.name: kind.description for kind in await Kinds(bench.pool).of("ada")}
    assert "EXAMPLEEXAMPLE" not in described["key"]


async def test_erasing_a_namespace_deletes_its_kinds(bench: "Bench") -> None:
    bench.curator._policies = OPEN
    made = command(bench, "create", "1", text="User dreams of owls", memory_kind="dream", new_kinds=(DREAM,))
    await bench.curator.apply_command(made)
    await bench.curator.apply_command(command(bench, "purge", "2"))
    assert await Kinds(bench.pool).of("ada") == ()
    assert await bench.pool.fetchval("SELECT count(*) FROM kinds") == 0
