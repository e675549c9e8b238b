"""Two extracted conversations on the command line: replay of a period with another model, cutover and revert."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import pytest
from msgspec import Struct

from deploy.embedded.stack import EmbeddedStack
from schemas.policies.shadows import shadow_of
from tests.builders.chat_events import end, message
from tests.command_line import Run, lines, run_here
from tests.deployment import Deployment, Event, deployed
from tests.servers.messages import KEY, MODELS, MessagesServer
from tests.servers.scripted import in_a_thread

POLICY = """
name: kitchen
match: {app_id: kitchen}
namespaces: ["{app_id}/{user_id}"]
kinds: %s
"""
BREAKFAST, DINNER = "I'm allergic to peanuts.", "I prefer short recipes."
PEANUTS, RECIPES = "User is allergic to peanuts.", "User prefers short recipes."
MORNING, BETWEEN, EVENING = "2026-03-02T08:00", "2026-03-02T12:00", "2026-03-02T18:00"
ADA = "kitchen/ada"


class Kitchen(Struct):
    """A deployment whose worker is gone, and its command line."""

    deployment: Deployment
    memstream: Run

    def remembered(self, namespace: str) -> set[str]:
        statement = "SELECT text FROM memories WHERE status = 'active' AND namespace = $1"
        return {row["text"] for row in asyncio.run(self.deployment.fetch(statement, namespace))}

    def replayed(self, *options: str, **settings: Any) -> str:
        """The generation, of which everything is done."""
        (made,) = lines(self.memstream("replay", *options, "--json", **settings))
        assert (made["status"], made["conversations"], made["failed"]) == ("ready", made["done"], 0)
        generation: str = made["generation"]
        return generation

    def listed(self, generation: str) -> dict[str, Any]:
        generations = lines(self.memstream("generations", "list", "--json"))
        return next(each for each in generations if each["generation"] == generation)

    def fates(self, generation: str) -> set[tuple[str, str]]:
        differences = lines(self.memstream("diff", generation, "--all", "--json"))
        return {(each["fate"], (each["before"] or each["after"])["text"]) for each in differences}


def said(conversation: str, at: str, content: str) -> list[Event]:
    event = message(conversation, 1, content, at=f"{at}:00Z", app_id="kitchen", user_id="ada")
    return [event, end(conversation, at=f"{at}:01Z")]


async def talk(stack: AsyncExitStack, deploying: Any) -> Deployment:
    deployment: Deployment = await stack.enter_async_context(deploying)
    worker = await deployment.worker()
    talks = (said("breakfast", MORNING, BREAKFAST), said("dinner", EVENING, DINNER))
    for events in talks:
        await deployment.publish(*events)
        await deployment.settled()
    assert await worker.stop() == 0
    return deployment


@pytest.fixture(scope="module")
def kitchen(embedded_stack: EmbeddedStack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kitchen]:
    directory = tmp_path_factory.mktemp("kitchen")
    policy, other = directory / "policies.yaml", directory / "preferences.yaml"
    policy.write_text(POLICY % "[fact, preference]")
    other.write_text(POLICY % "[preference]")
    counts = {"conversation_partitions": 2, "namespace_partitions": 2}
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        try:
            deploying = deployed(embedded_stack, "kitchen", directory, policies_file=policy, **counts)
            deployment = runner.run(talk(stack, deploying))
            yield Kitchen(deployment, partial(run_here, deployment.settings, directory))
        finally:
            runner.run(stack.aclose())


@pytest.mark.parametrize("source", ["archive", "kafka"])
@pytest.mark.parametrize(
    ("time", "remembered", "fates"),
    [
        (("--since", BETWEEN), {RECIPES}, {("same", RECIPES), ("kept", PEANUTS)}),
        (("--since", MORNING, "--until", EVENING), {PEANUTS}, {("same", PEANUTS), ("kept", RECIPES)}),
    ],
    ids=["since", "from the moment of the first until that of the second"],
)
def test_replay_of_a_time_range_keeps_memories_from_outside_the_range(
    kitchen: Kitchen, source: str, time: tuple[str, ...], remembered: set[str], fates: set[tuple[str, str]]
):
    generation = kitchen.replayed("--from", source, *time)
    assert kitchen.remembered(shadow_of(generation, ADA)) == remembered
    assert kitchen.fates(generation) == fates
    assert kitchen.memstream("generations", "discard", generation).returncode == 0


def test_replay_with_another_model_records_the_model_in_its_generation(kitchen: Kitchen):
    with in_a_thread(MessagesServer()) as server:
        asking = {"provider": "claude", "claude_model": MODELS[0], "anthropic_api_key": KEY}
        asking |= {"anthropic_base_url": server.url}
        generation = kitchen.replayed("-n", ADA, "--model", MODELS[1], **asking)
    assert [body["model"] for body in server.seen] == [MODELS[1]] * 2
    kept = kitchen.listed(generation)
    assert (kept["status"], kept["provider"], kept["model"]) == ("ready", None, MODELS[1])
    shown = kitchen.memstream("generations", "list").stdout
    assert MODELS[1] in "".join(shown.split()), "its cell folds where the terminal is narrow"
    assert kitchen.remembered(shadow_of(generation, ADA)) == {PEANUTS, RECIPES}
    statement = "SELECT DISTINCT provider, model FROM extractions WHERE $1 = ANY (namespaces)"
    answered = asyncio.run(kitchen.deployment.fetch(statement, shadow_of(generation, ADA)))
    assert answered == [{"provider": "claude", "model": MODELS[1]}]
    assert kitchen.memstream("generations", "discard", generation).returncode == 0


def test_a_cutover_to_a_generation_can_be_undone(kitchen: Kitchen):
    generation = kitchen.replayed("--all", "--policy", "preferences.yaml")
    assert kitchen.fates(generation) == {("lost", PEANUTS), ("same", RECIPES)}
    assert kitchen.remembered(ADA) == {PEANUTS, RECIPES}

    done = kitchen.memstream("cutover", generation)
    assert done.stdout.splitlines() == [
        "cut over: 1 change in 1 namespace",
        f"`memstream cutover {generation} --undo` undoes it",
    ]
    assert kitchen.remembered(ADA) == {RECIPES}
    assert kitchen.listed(generation)["status"] == "cutover"
    assert PEANUTS not in kitchen.memstream("search", "peanuts", "-n", ADA).stdout

    (report,) = lines(kitchen.memstream("cutover", generation, "--undo", "--json"))
    assert report == {"generation": generation, "undone": True, "namespaces": 1, "changes": 1, "left": 0}
    assert kitchen.remembered(ADA) == {PEANUTS, RECIPES}
    assert kitchen.listed(generation)["status"] == "undone"
    assert PEANUTS in kitchen.memstream("search", "peanuts", "-n", ADA).stdout
    again = kitchen.memstream("cutover", generation, "--undo", "--json")
    assert (again.returncode, again.stdout) == (1, "")
    assert f"generation {generation} is undone, and must be cutover" in again.stderr
