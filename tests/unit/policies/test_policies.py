"""Selection of policies, and the namespaces that a conversation feeds."""

import re

import pytest

from schemas import codec
from schemas.conversations.messages import Scope
from schemas.errors import Rejected
from schemas.policies.kinds import DEFAULT_KINDS, Kind
from schemas.policies.matching import Match
from schemas.policies.policies import DEFAULT_POLICY, Policies, Policy

SCOPE = Scope(conversation_id="c-1", tenant_id="acme", app_id="notes", user_id="mara", agent_id="scribe")


@pytest.mark.parametrize(
    ("match", "accepted"),
    [
        (Match(), True),
        (Match(app_id="notes"), True),
        (Match(app_id="note?"), True),
        (Match(app_id="n*"), True),
        (Match(app_id="[mn]otes"), True),
        (Match(app_id="Notes"), False),
        (Match(app_id="notes", tenant_id="other"), False),
        (Match(app_id="notes", tenant_id="ac*"), True),
        (Match(mode="*"), False),
    ],
)
def test_patterns_are_matched_field_by_field(match, accepted):
    assert match.accepts(SCOPE) is accepted


def test_the_first_policy_that_matches_applies():
    first, second = Policy(name="first", match=Match(app_id="notes")), Policy(name="second", match=Match(app_id="*"))
    policies = Policies((first, second))
    assert policies.match(SCOPE) is first
    assert policies.match(Scope(conversation_id="c", app_id="support")) is second


def test_without_a_match_the_default_applies():
    policies = Policies((Policy(name="only", match=Match(app_id="support")),))
    assert policies.match(SCOPE) is DEFAULT_POLICY
    assert policies.by_name("gone") is DEFAULT_POLICY
    assert policies.by_name("only").name == "only"


def test_merged_policies_are_ordered_from_the_most_specific_match_and_precede_the_base_policies():
    anything, app = Policy(name="a"), Policy(name="m", match=Match(app_id="n*"))
    exactly, both = Policy(name="z", match=Match(app_id="notes")), Policy(name="b", match=Match(app_id="*", mode="m*"))
    beneath = Policies((Policy(name="last"), Policy(name="a", max_text_chars=20), Policy(name="end")))
    over = Policies((anything, app, exactly, both)).merged_over(beneath)
    assert [policy.name for policy in over.listed] == ["b", "z", "m", "a", "last", "end"]
    assert over.by_name("a") == anything


def test_a_policy_of_higher_priority_comes_first_regardless_of_its_match():
    late, early = Policy(name="late", match=Match(app_id="notes"), priority=-1), Policy(name="early", priority=5)
    assert [each.name for each in Policies((late,)).merged_over(Policies((Policy(name="own"), early))).listed] == [
        *("early", "own", "late")
    ]


def test_a_retired_policy_matches_nothing_but_can_be_found_by_name():
    policies = Policies((), (Policy(name="gone"),))
    assert policies.match(SCOPE) is DEFAULT_POLICY
    assert policies.by_name("gone") == Policy(name="gone")


def test_kinds_are_names_or_names_with_a_description_and_an_icon():
    policy = codec.decode(
        b'{"name": "p", "kinds": ["fact", {"name": "pet", "description": "Animals", "icon": "D"}, "odd"]}', Policy
    )
    assert policy.kinds == ("fact", "pet", "odd")
    fact, pet, odd = policy.described_kinds
    assert fact == DEFAULT_KINDS[0] and fact.description, "a name of the built-in set has its description"
    assert (pet, odd) == (Kind(name="pet", description="Animals", icon="D"), Kind(name="odd"))
    assert codec.decode(codec.encode(policy), Policy) == policy


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (b'{"name": "p", "kinds": ["fact", {"name": "FACT"}]}', "more than once"),
        (b'{"name": "p", "kinds": []}', "kinds is empty"),
        (b'{"name": "p", "kinds": [" "]}', "kinds[0]"),
        (b'{"name": "p", "namespaces": ["{app_id}", "{app}"]}', "namespaces[1]"),
        (b'{"name": "p", "namespaces": ["{app_id.owner}"]}', "namespaces[0]"),
        (b'{"name": "p", "namespaces": ["{0}"]}', "namespaces[0]"),
        (b'{"name": "p", "namespaces": ["{app_id"]}', "namespaces[0]"),
        (b'{"name": "p", "namespaces": [""]}', "is empty"),
    ],
)
def test_an_invalid_policy_is_rejected_with_an_explanation(written, said):
    with pytest.raises(Rejected, match=re.escape(said)):
        codec.decode(written, Policy)


def test_a_policy_needs_no_kinds_if_it_extracts_nothing_or_creates_kinds():
    assert Policy(name="p", taxonomy=(), extract=False).kinds == ()
    assert Policy(name="p", taxonomy=(), unknown_kinds="create").kinds == ()


def test_one_conversation_may_feed_several_namespaces_each_once():
    policy = Policy(name="p", namespaces=("{app_id}/{user_id}", "{app_id}", "{app_id}/{user_id}"))
    assert policy.namespaces_of(SCOPE) == ("notes/mara", "notes")


def test_a_namespace_template_with_an_absent_field_is_skipped():
    policy = Policy(name="p", namespaces=("{app_id}/{mode}", "{app_id}"))
    assert policy.namespaces_of(SCOPE) == ("notes",)


def test_a_conversation_that_fits_no_template_gets_its_own_namespace():
    policy = Policy(name="p", namespaces=("{app_id}/{mode}",))
    assert policy.namespaces_of(SCOPE) == ("conversation/c-1",)


@pytest.mark.parametrize(
    "value",
    [
        {"name": "p", "merge_threshold": 1.5},
        {"name": "p", "slice_tokens": 1},
        {"name": "p", "late_idle_s": 0},
        {"name": ""},
        {"name": "p", "namespace": ["{app_id}"]},
        {"name": "p", "match": {"user": "x"}},
    ],
)
def test_a_policy_with_an_unknown_or_out_of_range_setting_is_rejected(value):
    with pytest.raises(Rejected, match="not a Policy"):
        codec.convert(value, Policy)


def test_an_overlong_namespace_is_shortened_to_a_unique_stable_name():
    users = [Scope(conversation_id="c", app_id="a" * 200, user_id="u" * 199 + last) for last in "xy"]
    names = [Policy(name="p").namespaces_of(user)[0] for user in users]
    assert [len(name) for name in names] == [256, 256]
    assert names[0] != names[1]
    assert Policy(name="p").namespaces_of(users[0])[0] == names[0]
