"""Garbage collection of a running worker."""

import gc
from collections.abc import Iterator

import pytest

from deploy.runtime.garbage_collection import YOUNG, collect_seldom


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    threshold, frozen = gc.get_threshold(), gc.get_freeze_count()
    yield
    gc.set_threshold(*threshold)
    if not frozen:
        gc.unfreeze()


def test_existing_objects_are_frozen_and_the_collection_threshold_is_raised():
    _, *older = gc.get_threshold()
    collect_seldom()
    assert gc.get_freeze_count() > 10_000
    assert gc.get_threshold() == (YOUNG, *older)
    assert len(gc.get_objects()) < 1_000


def test_later_reference_cycles_are_still_collected():
    collect_seldom()
    for _ in range(2 * YOUNG):
        cycle: list[object] = []
        cycle.append(cycle)
    assert len(gc.get_objects()) < 2 * YOUNG
