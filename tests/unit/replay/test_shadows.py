"""Shadow namespaces have reserved names."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.api.access.callers import LOCAL
from schemas.conversations.messages import Scope
from schemas.memories.commands import Command
from schemas.policies.namespaces import render
from schemas.policies.policies import Policy
from schemas.policies.shadows import is_reserved, live_namespace_of, shadow_of

GENERATION = "0a1b2c3d"


@given(st.text(min_size=1))
def test_a_shadow_namespace_maps_back_to_its_live_namespace(namespace):
    assert live_namespace_of(shadow_of(GENERATION, namespace)) == namespace
    assert is_reserved(shadow_of(GENERATION, namespace))


@pytest.mark.parametrize("namespace", ["kitchen/ada", "~0a1b2c3d", "~xyz/kitchen", "a~0a1b2c3d/b"])
def test_an_unreserved_namespace_maps_to_itself(namespace):
    assert live_namespace_of(namespace) == namespace


@given(st.text(min_size=1))
def test_no_template_value_renders_a_reserved_namespace(user_id):
    name = render("{user_id}", Scope(conversation_id="c", user_id=user_id))
    assert name is not None
    assert not is_reserved(name)


def test_a_policy_template_with_a_reserved_prefix_is_rejected():
    with pytest.raises(ValueError, match="reserved"):
        Policy(name="p", namespaces=("~0a1b2c3d/{user_id}",))


@pytest.mark.parametrize("fields", [{"kind": "create"}, {"kind": "create", "erasure_id": "1"}, {"kind": "purge"}])
def test_only_forget_commands_may_address_a_reserved_namespace(fields: Any):
    common: Any = {"command_id": "1", "namespace": shadow_of(GENERATION, "a/b"), "at": datetime(2026, 1, 1, tzinfo=UTC)}
    with pytest.raises(ValueError, match="reserved"):
        Command(**common, **fields)
    Command(**common, kind="forget", erasure_id="1")


def test_no_key_may_access_a_reserved_namespace():
    assert LOCAL.may("admin", "kitchen/ada")
    assert not LOCAL.may("read", shadow_of(GENERATION, "kitchen/ada"))
