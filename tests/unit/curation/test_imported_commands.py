"""Imports in the curation agent: carried out together, in order, and one by one where one fails."""

from collections import deque

import pytest

from schemas.errors import Rejected, Retryable
from schemas.kafka import topics
from schemas.memories.commands import Command
from tests.unit.curation.staged import COMMANDS, command


def imported(*names: str) -> list[Command]:
    return [command("a", name, "import") for name in names]


async def test_imports_that_follow_each_other_are_carried_out_together_and_in_order_with_the_rest(stage):
    given = stage.batch(
        *imported("1", "2"), command("a", "x"), command("b", "3", "import"), *imported("4"), topic=COMMANDS
    )
    await stage.agent.handle(given)
    await stage.settled()
    assert [name for namespace, name in stage.curator.done if namespace == "a"] == ["1+2", "x", "4"]
    assert ("b", "3") in stage.curator.done
    assert given.acked


async def test_an_import_that_does_not_decode_goes_to_the_dead_letters_and_the_rest_is_carried_out(stage):
    given = stage.batch(*imported("1"), (b"a", b"not json"), *imported("2"), topic=COMMANDS)
    await stage.agent.handle(given)
    await stage.settled()
    assert stage.curator.done == [("a", "1"), ("a", "2")]
    assert len(stage.publisher.on(topics.DEAD_LETTERS)) == 1
    assert given.acked


@pytest.mark.parametrize("failure", [Rejected("unembeddable", "too long"), ValueError("a bug")])
async def test_imports_of_which_one_fails_are_carried_out_one_by_one_and_that_one_is_dead_lettered(stage, failure):
    stage.curator.failures = {"1+2+3": deque([failure]), "2": deque([failure])}
    given = stage.batch(*imported("1", "2", "3"), topic=COMMANDS)
    await stage.agent.handle(given)
    await stage.settled()
    assert stage.curator.done == [("a", "1"), ("a", "3")]
    assert len(stage.publisher.on(topics.DEAD_LETTERS)) == 1
    assert given.acked


async def test_imports_that_may_pass_are_tried_again_together(stage):
    stage.curator.failures["1+2"] = deque([Retryable("postgres away")])
    await stage.agent.handle(stage.batch(*imported("1", "2"), topic=COMMANDS))
    await stage.settled()
    assert stage.curator.done == [("a", "1+2")]
