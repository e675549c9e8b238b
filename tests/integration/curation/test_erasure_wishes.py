"""A wish to erase everything is reported, or begins an erasure where the policy allows it."""

from typing import TYPE_CHECKING

from msgspec.structs import replace

from agents.curation.curator import Curator
from agents.erasure.begin import ErasureService
from agents.erasure.wishes import ErasureWishes
from schemas.policies.policies import Policies
from sinks.erasure.erasures import Erasures
from tests.builders.groups import batches_of
from tests.builders.memories import NOON
from tests.builders.wishes import ADAS_NAMESPACE, GROUP, ada_says, read_by_model

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench

ERASING = replace(GROUP, on_erasure_wish="erase")


def erasing_curator(bench: "Bench") -> Curator:
    """A curator whose policy allows erasures by wish."""

    async def ends() -> dict[int, int]:
        return {0: 100}

    erasures = Erasures(bench.pool)
    wishes = ErasureWishes(ErasureService(erasures, ends, bench.now), erasures, bench.now)
    return bench.curator_under(Policies((ERASING,)), wishes)


async def test_a_wish_to_erase_everything_is_reported_and_deletes_nothing(bench: "Bench") -> None:
    await bench.extract_and_curate(ada_says("I live in Berlin."))
    await bench.extract_and_curate(ada_says("Delete all your memories about me."))

    assert await bench.live_texts(ADAS_NAMESPACE) == ["User lives in Berlin."]
    (event,) = bench.wish_events()
    assert (event.type, event.data["user_id"]) == ("memstream.wish.erasure_reported", "ada")


async def test_a_wish_to_erase_everything_starts_one_erasure_where_the_policy_allows_it(
    bench: "Bench",
) -> None:
    curator = erasing_curator(bench)
    (batch,) = await batches_of(ada_says("I live in Berlin.", "Delete all your memories about me."), ERASING)
    batch = replace(batch, extracted_at=NOON, requested_at=NOON)

    await curator.curate(batch)
    await curator.curate(replace(batch, part=2, parts=2))

    first, again = bench.wish_events()
    assert first.type == "memstream.wish.erasure_begun"
    assert first.data["erasure_id"] == again.data["erasure_id"]
    begun = await Erasures(bench.pool).get(first.data["erasure_id"])
    assert begun is not None
    assert (begun.erasure.kind, begun.erasure.user_id, begun.erasure.app_id) == ("user", "ada", "kitchen")


async def test_a_wish_for_everything_that_only_a_model_reads_begins_no_erasure(bench: "Bench") -> None:
    await bench.extract_and_curate(ada_says("I live in Berlin.", conversation_id="earlier"))
    batch = read_by_model(ada_says("Cancella tutto quello che sai di me."), "everything", "m1", everything=True)

    await erasing_curator(bench).curate(replace(batch, extracted_at=NOON, requested_at=NOON))

    assert await bench.live_texts(ADAS_NAMESPACE) == ["User lives in Berlin."]
    (event,) = bench.wish_events()
    assert (event.type, event.data["user_id"]) == ("memstream.wish.erasure_reported", "ada")
