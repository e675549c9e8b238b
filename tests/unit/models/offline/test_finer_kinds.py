"""Facts get a finer kind if the policy has it, and stay facts otherwise."""

import pytest

from agents.models.offline.provider import OfflineProvider
from deploy.policies.files import preset, read_file
from schemas.policies.policies import DEFAULT_POLICY, Policy
from tests.builders.slices import knowing, slice_of

(COMPANION,) = (each.policy for each in read_file(preset("companion")))


async def kinds(text: str, policy: Policy) -> list[str]:
    answer = await OfflineProvider().extract(slice_of(text), knowing(policy=policy))
    return [proposal.kind for proposal in answer.proposals]


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("My sister is called Ana.", "person"),
        ("My boss is called Petra.", "person"),
        ("My best friend Tom moved to Oslo.", "person"),
        ("I have two brothers.", "person"),
        ("Meine Schwester heißt Ana.", "person"),
        ("Ma sœur s'appelle Ana.", "person"),
        ("I live in Turin.", "location"),
        ("I grew up in Porto.", "location"),
        ("Ich wohne in Berlin.", "location"),
        ("Vivo en Madrid.", "location"),
        ("I can play the violin.", "skill"),
        ("I speak Portuguese and German.", "skill"),
        ("I am learning Spanish.", "skill"),
        ("I struggle with insomnia.", "problem"),
        ("I have chronic back pain.", "problem"),
        ("I graduated from Porto in 2015.", "event"),
        ("I got married in May 2019.", "event"),
        ("I lost my job in March.", "event"),
        ("I am married.", "fact"),
        ("I was born in 1990.", "fact"),
        ("I have a dog named Rex.", "fact"),
        ("I'm allergic to peanuts.", "fact"),
        ("My mother is allergic to nuts.", "fact"),
        ("I can't eat gluten.", "fact"),
        ("I work as a nurse.", "fact"),
        ("I prefer green tea.", "interest"),
    ],
)
async def test_facts_get_finer_kinds_under_the_companion_policy(said: str, kind: str) -> None:
    assert await kinds(said, COMPANION) == [kind]


@pytest.mark.parametrize("said", ["My sister is called Ana.", "I live in Turin.", "I can play the violin."])
async def test_facts_keep_the_kind_fact_if_the_policy_has_no_finer_kinds(said: str) -> None:
    assert await kinds(said, DEFAULT_POLICY) == ["fact"]
    assert await kinds(said, Policy(name="p", taxonomy=("fact", "event"))) == ["fact"]
