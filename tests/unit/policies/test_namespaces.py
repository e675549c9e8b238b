"""Namespace names are escaped, so that no value reaches another namespace."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.conversations.messages import Scope
from schemas.policies.namespaces import colliding, render


@pytest.mark.parametrize(
    ("user_id", "namespace"),
    [
        ("../support", "notes/..%2Fsupport"),
        ("mara/private", "notes/mara%2Fprivate"),
        ("mara%2Fprivate", "notes/mara%252Fprivate"),
        ("{app_id}", "notes/%7Bapp_id%7D"),
        ("a\nb\x00", "notes/a%0Ab%00"),
        ("mara@example.org", "notes/mara@example.org"),
        ("Zoë", "notes/Zoë"),
        ("a~b", "notes/a%7Eb"),
    ],
)
def test_special_characters_in_a_template_value_cannot_address_another_namespace(user_id, namespace):
    assert render("{app_id}/{user_id}", Scope(conversation_id="c", app_id="notes", user_id=user_id)) == namespace


@given(st.tuples(st.text(min_size=1), st.text(min_size=1)), st.tuples(st.text(min_size=1), st.text(min_size=1)))
def test_different_users_never_share_a_namespace(one, other):
    names = [
        render("{app_id}/{user_id}", Scope(conversation_id="c", app_id=app, user_id=user)) for app, user in (one, other)
    ]
    assert (names[0] == names[1]) == (one == other)


@given(st.text(min_size=1), st.text(min_size=1))
def test_a_rendered_namespace_has_as_many_parts_as_its_template(app_id, user_id):
    name = render("{app_id}/{user_id}", Scope(conversation_id="c", app_id=app_id, user_id=user_id))
    assert name is not None
    assert name.count("/") == 1


@pytest.mark.parametrize(
    ("templates", "found"),
    [
        (("{tenant_id}/{user_id}", "{tenant_id}/{app_id}"), [("{tenant_id}/{user_id}", "{tenant_id}/{app_id}")]),
        (("{user_id}", "{app_id}"), [("{user_id}", "{app_id}")]),
        (("user/{user_id}", "app/{app_id}"), []),
        (("{app_id}/{user_id}", "{app_id}"), []),
        (("{app_id}", "{conversation_id}"), []),
    ],
)
def test_templates_that_can_name_a_shared_namespace_like_a_personal_one_collide(templates, found):
    assert colliding(templates) == found
