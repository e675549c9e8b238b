"""Putting policies on the topic: new versions and rejected changes."""

import pytest

from agents.policies.changes import StoredPolicies, records
from deploy.cli.policies import policies_to_put
from deploy.policies.files import PolicyText
from deploy.wiring.policy_store import plan_changes
from schemas import codec
from schemas.errors import Misconfigured
from schemas.kafka import topics
from schemas.policies.matching import Match
from schemas.policies.policies import Policy

NOTES = Policy(name="notes", version=3, max_text_chars=90)
KNOWN = StoredPolicies({"notes": NOTES}, {"notes": 3, "gone": 5}, {})


def written(version: int | None = None, **settings) -> PolicyText:
    return PolicyText(Policy(**{"name": "notes", "version": version or 1} | settings), version, "notes.yaml:1")


@pytest.mark.parametrize(
    ("wanted", "result", "version"),
    [
        (written(max_text_chars=80), "changed", 4),
        (written(3, max_text_chars=80), "changed", 4),
        (written(max_text_chars=90), "unchanged", 3),
        (written(2, max_text_chars=90), "unchanged", 3),
        (written(name="new"), "created", 1),
        (written(7, name="new"), "created", 1),
        (written(name="gone"), "created", 6),
    ],
    ids=["changed", "from the current version", "the same", "the same again", "new", "new to here", "removed before"],
)
def test_a_changed_policy_gets_the_next_version_and_an_equal_one_is_not_published(wanted, result, version):
    (made,) = plan_changes([wanted], KNOWN)
    assert (made.result, made.policy.version) == (result, version)
    published = records([made])
    if result == "unchanged":
        assert published == []
        return
    assert [(each.topic, each.key) for each in published] == [(topics.POLICIES, made.policy.name.encode())]
    assert codec.decode(published[0].value, Policy) == made.policy


def test_a_policy_file_based_on_a_stale_version_is_rejected_with_the_remedy():
    with pytest.raises(Misconfigured, match=r"notes\.yaml:1: version is 2, .* at 3 now: start from `memstream pol"):
        plan_changes([written(2, max_text_chars=80)], KNOWN)


def test_a_preset_can_be_renamed_and_restricted_to_some_conversations():
    (plain,) = policies_to_put([], "app-notes", None, [])
    assert (plain.policy.name, plain.policy.match, plain.version) == ("app-notes", Match(), None)
    (named,) = policies_to_put([], "app-notes", "kitchen", ["app_id=kitchen*", "mode=notes"])
    assert (named.policy.name, named.policy.match) == ("kitchen", Match(app_id="kitchen*", mode="notes"))


@pytest.mark.parametrize(
    ("preset", "name", "match", "said"),
    [
        (None, None, [], "give policy files, or one preset with --preset"),
        ("none", None, [], "no preset is called 'none'; the presets are"),
        ("companion", None, ["user=x"], "--match user: write FIELD=PATTERN"),
        ("companion", None, ["app_id"], "--match app_id: write FIELD=PATTERN"),
        ("companion", None, ["mode=a", "mode=b"], "--match mode=b: write FIELD=PATTERN, each field once"),
    ],
)
def test_invalid_arguments_for_putting_a_preset_are_rejected_with_the_valid_form(preset, name, match, said):
    with pytest.raises(Misconfigured, match=said):
        policies_to_put([], preset, name, match)
