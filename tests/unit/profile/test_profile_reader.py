"""Profiles are cached until their namespace changes."""

import asyncio

from agents.profile.profile_reader import AT_ONCE, Profiles
from schemas.policies.policies import Policy, ProfileSettings
from tests.api import NOON, a_memory, words
from tests.fakes.live import FakeLive
from tests.fakes.memories import FakeMemories

POLICY = Policy(name="app")
PEANUTS = a_memory("m1", text="User is allergic to peanuts.")


def reading(*memories):
    stored = FakeMemories(*memories)
    live = FakeLive(stored)
    return Profiles(live, words, lambda: NOON), live, stored


async def test_a_namespace_without_changes_is_read_once():
    profiles, live, _ = reading(PEANUTS)
    first, second = [await profiles.of(("app/ada",), POLICY) for _ in range(2)]
    assert (first, live.reads) == (second, ["app/ada"])


async def test_a_memory_change_appears_in_the_next_profile():
    profiles, _, stored = reading(PEANUTS)
    before = await profiles.of(("app/ada",), POLICY)
    stored.put(a_memory("m2", text="User is vegetarian."))
    after = await profiles.of(("app/ada",), POLICY)
    assert (len(before.lines), len(after.lines)) == (1, 2)
    stored.put(a_memory("m1", version=2, status="deleted", text=""))
    assert [line.memory_ids for line in (await profiles.of(("app/ada",), POLICY)).lines] == [("m2",)]


async def test_other_requests_have_their_turn_while_a_large_namespace_is_classified():
    profiles, _, _ = reading(*(a_memory(f"m{number}") for number in range(3 * AT_ONCE)))
    turns = list[int]()

    async def others() -> None:
        while len(turns) < 3:
            turns.append(len(turns))
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        reading_profile = group.create_task(profiles.of(("app/ada",), POLICY))
        reading_profile.add_done_callback(lambda _: turns.append(-1))
        group.create_task(others())
    assert turns[:3] == [0, 1, 2]


async def test_memories_of_several_namespaces_form_one_profile():
    profiles, _, _ = reading(PEANUTS, a_memory("m2", namespace="team", text="User never works on Fridays."))
    made = await profiles.of(("app/ada", "team", "nobody"), POLICY)
    assert {line.memory_ids for line in made.lines} == {("m1",), ("m2",)}
    assert made.namespaces == ("app/ada", "team", "nobody")


async def test_a_policy_without_profile_tokens_reads_no_memories():
    profiles, live, _ = reading(PEANUTS)
    assert (await profiles.of(("app/ada",), Policy(name="app", profile=ProfileSettings(max_tokens=0)))).text == ""
    assert live.reads == []
