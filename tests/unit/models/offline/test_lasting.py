"""Lasting wishes and limits of the speaker, apart from current tasks, general truths, jokes and statements about
others."""

import json
from pathlib import Path
from typing import Final

import pytest

from agents.models.offline.provider import OfflineProvider
from tests.builders.slices import knowing, slice_of

LABELLED: Final[dict[str, list[str]]] = json.loads(Path(__file__).with_name("lasting.json").read_bytes())


async def tags(said: str) -> set[str]:
    proposals = (await OfflineProvider().extract(slice_of(said), knowing())).proposals
    return {tag for each in proposals for tag in each.tags} & {"directive", "constraint"}


@pytest.mark.parametrize("said", LABELLED["once"])
async def test_one_off_tasks_general_truths_and_statements_about_others_get_no_wish_or_limit_tag(said: str) -> None:
    assert await tags(said) == set()


@pytest.mark.parametrize("said", LABELLED["lasting"])
async def test_a_lasting_wish_or_a_limit_of_the_speaker_is_kept(said: str) -> None:
    assert await tags(said)
