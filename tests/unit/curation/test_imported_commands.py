"""The curation agent applies imports together and in order, and individually after a failure."""

from collections import deque

import pytest

from schemas.errors import Rejected, Retryable
from schemas.kafka import topics
from schemas.memories.commands import Command
from tests.unit.curation.curation_stage import COMMANDS, command


def imported(*names: str) -> list[Command]:
    return [command("a", name, "import") for name in names]


async def test_consecutive_imports_are_applied_together_and_in_order_with_other_commands(stage):
    given = stage.batch(
        *imported("1", "2"), command("a", "x"), command("b", "3", "import"), *imported("4"), topic=COMMANDS
    )
    await stage.agent.handle(given)
    await stage.settled()
    assert [name for namespace, name in stage.curator.done if namespace == "a"] == ["1+2", "x", "4"]
    assert ("b", "3") in stage.curator.done
    assert given.acked


async def test_an_import_that_does_not_decode_is_dead_lettered_and_the_others_are_applied(stage):
    given = stage.batch(*imported("1"), (b"a", b"not json"), *imported("2"), topic=COMMANDS)
    await stage.agent.handle(given)
    await stage.settled()
    assert stage.curator.done == [("a", "1"), ("a", "2")]
    assert len(stage.publisher.on(topics.DEAD_LETTERS)) == 1
    assert given.acked


@pytest.mark.parametrize("failure", [Rejected("unembeddable", "too long"), ValueError("a bug")])
async def test_imports_are_applied_one_by_one_after_a_failure_and_only_the_bad_import_is_dead_lettered(stage, failure):
    stage.curator.failures = {"1+2+3": deque([failure]), "2": deque([failure])}
    given = stage.batch(*imported("1", "2", "3"), topic=COMMANDS)
    await stage.agent.handle(given)
    await stage.settled()
    assert stage.curator.done == [("a", "1"), ("a", "3")]
    assert len(stage.publisher.on(topics.DEAD_LETTERS)) == 1
    assert given.acked


async def test_imports_with_a_retryable_failure_are_retried_together(stage):
    stage.curator.failures["1+2"] = deque([Retryable("postgres away")])
    await stage.agent.handle(stage.batch(*imported("1", "2"), topic=COMMANDS))
    await stage.settled()
    assert stage.curator.done == [("a", "1+2")]
