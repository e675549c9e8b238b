"""A wish that only a model reads forgets the memories that the model names, within the wish's namespace."""

from typing import TYPE_CHECKING

from msgspec.structs import replace

from schemas.memories.commands import Command
from tests.builders.groups import batches_of
from tests.builders.memories import NOON
from tests.builders.wishes import ADAS_NAMESPACE, GROUP, ada_says, read_by_model

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench


async def test_a_wish_that_only_a_model_reads_forgets_what_it_names_and_can_be_undone(bench: "Bench") -> None:
    await bench.extract_and_curate(ada_says("I live in Berlin.", "My sister is a nurse.", conversation_id="earlier"))
    (sister,) = [each for each in await bench.memories.in_namespace(ADAS_NAMESPACE) if "sister" in each.text]
    asking = ada_says("Quello che ti ho detto di mia sorella non tenerlo.")
    batch = read_by_model(asking, "mia sorella", "m1", memory_ids=(sister.memory_id,))

    await bench.curator.curate(batch)

    assert await bench.live_texts(ADAS_NAMESPACE) == ["User lives in Berlin."]
    (event,) = bench.wish_events()
    assert (event.type, event.data["memory_ids"]) == ("memstream.wish.forgotten", [sister.memory_id])
    undo = Command(command_id="u", kind="undo", namespace=ADAS_NAMESPACE, at=NOON, memory_id=sister.memory_id)
    await bench.curator.apply_command(undo)
    assert sister.text in await bench.live_texts(ADAS_NAMESPACE)


async def test_a_model_cannot_name_a_memory_of_another_namespace(bench: "Bench") -> None:
    (other,) = await batches_of(replace(ada_says("I live in Berlin."), namespaces=("kitchen/bob",)), GROUP)
    await bench.curator.curate(other)
    (bobs,) = await bench.memories.in_namespace("kitchen/bob")

    await bench.curator.curate(read_by_model(ada_says("Toglilo."), "Berlino", "m1", memory_ids=(bobs.memory_id,)))

    assert await bench.live_texts("kitchen/bob") == ["User lives in Berlin."]
    assert [event.type for event in bench.wish_events()] == ["memstream.wish.unknown"]
