"""A profile change is published once, with the decision that causes it."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from schemas.memories.commands import Command
from schemas.memories.events import ActivityEvent
from schemas.policies.policies import Policies
from tests.integration.curation_bench import NOON

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench


def profile_events(bench: "Bench") -> list[ActivityEvent]:
    """Each once, as a consumer keeps them."""
    events = {event.id: event for event in bench.activity() if event.type == "memstream.profile.changed"}
    return list(events.values())


async def command(bench: "Bench", kind: Any, command_id: str, **fields: Any) -> None:
    await bench.curator.apply_command(Command(command_id=command_id, kind=kind, namespace="n", at=NOON, **fields))


async def test_a_profile_event_is_published_only_when_a_line_appears_disappears_or_returns(bench: "Bench") -> None:
    batch = bench.batch("User is allergic to peanuts.", "User saw a film.")
    await bench.curator.curate(batch)
    await bench.curator.curate(batch)
    await bench.remember("User is allergic to peanuts.")
    (first,) = profile_events(bench)
    (memory_id,) = first.data["memory_ids"]
    assert (first.subject, first.data["namespace"], first.data["parts"]) == ("n", "n", ["constraint"])

    await command(bench, "delete", "d", memory_id=memory_id)
    await command(bench, "undo", "u", memory_id=memory_id)

    sequences = [event.data["sequence"] for event in profile_events(bench)]
    assert len(sequences) == 3 and sequences == sorted(set(sequences))
    records = [event.id for event in bench.activity() if event.type == "memstream.profile.changed"]
    assert len(records) == len(set(records)), "a part that comes again tells nothing again"


async def test_a_profile_event_is_published_when_a_namespace_is_purged(bench: "Bench") -> None:
    await bench.remember("User is allergic to peanuts.")
    await command(bench, "purge", "p")

    assert len(profile_events(bench)) == 2


async def test_a_profile_event_is_published_when_a_line_expires(bench: "Bench") -> None:
    now = NOON
    curator = bench.curator_under(Policies(), clock=lambda: now)
    await curator.apply_command(
        Command(
            command_id="c",
            kind="create",
            namespace="n",
            at=NOON,
            text="User is allergic to peanuts.",
            importance=0.9,
            expires_at=NOON + timedelta(days=1),
        )
    )
    now = NOON + timedelta(days=2)
    assert await curator.expire() == 1

    assert len(profile_events(bench)) == 2
