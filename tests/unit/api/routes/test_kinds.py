"""The kinds of a namespace: those of the policy, and generated ones."""

from typing import Any

import pytest

from schemas.policies.policies import Policies, Policy
from sinks.memories.kinds import UsedKind
from tests.api import Api, a_memory

ADA = {"namespace": "app/ada"}


def kinds_of(answer: Any) -> dict[str, dict[str, Any]]:
    assert answer.status_code == 200
    return {kind["name"]: kind for kind in answer.json()["kinds"]}


async def test_kinds_of_the_policy_come_first_with_their_memory_counts(api: Api):
    api.memories.put(a_memory("m1", kind="fact", kinds=("preference",)))
    api.memories.put(a_memory("m2", kind="fact"))
    kinds = kinds_of(await api.client(read="*").get("/v1/kinds", params=ADA))
    assert list(kinds) == ["fact", "preference", "decision", "plan", "insight"]
    assert {name: kind.get("memories", 0) for name, kind in kinds.items() if kind.get("memories")} == {
        "fact": 2,
        "preference": 1,
    }
    assert kinds["fact"]["of_policy"] and kinds["fact"]["description"] and kinds["fact"]["icon"]


async def test_generated_kinds_follow_the_policy_kinds_with_their_description_and_icon(api: Api):
    api.memories.put(a_memory("m1", kind="dream"))
    api.memories.put(a_memory("m2", kind="omen"))
    api.kinds.described["app/ada"] = (UsedKind(name="dream", description="What the user dreams of", icon="🌙"),)
    kinds = kinds_of(await api.client(read="*").get("/v1/kinds", params=ADA))
    assert list(kinds)[-2:] == ["dream", "omen"]
    assert kinds["dream"] == {"name": "dream", "description": "What the user dreams of", "icon": "🌙", "memories": 1}
    assert kinds["omen"] == {"name": "omen", "memories": 1}


@pytest.mark.parametrize("unknown_kinds", ["create", "reject"])
async def test_the_kinds_response_reports_whether_new_kinds_may_be_created(unknown_kinds: Any):
    api = Api(policies=Policies((Policy(name="p", unknown_kinds=unknown_kinds),)))
    answer = await api.client(read="*").get("/v1/kinds", params=ADA)
    assert answer.json().get("open", False) == (unknown_kinds == "create")


async def test_listing_kinds_needs_the_right_to_read_the_namespace(api: Api):
    assert (await api.client(read="app/bob").get("/v1/kinds", params=ADA)).status_code == 403


async def test_a_new_memory_may_describe_its_kind(api: Api):
    dream = {"name": "dream", "description": "What the user dreams of", "icon": "🌙"}
    new = ADA | {"text": "User dreams of owls", "kind": "dream", "new_kinds": [dream]}
    assert (await api.client(write="*").post("/v1/memories", json=new)).status_code == 201
    (command,) = api.curation.seen
    assert [(kind.name, kind.icon) for kind in command.new_kinds or ()] == [("dream", "🌙")]
