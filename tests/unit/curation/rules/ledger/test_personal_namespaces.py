"""A namespace is personal if a template of its policy has the user's id in it."""

import pytest

from agents.curation.rules.ledger.personal_namespaces import is_personal
from schemas.policies.policies import Policy


@pytest.mark.parametrize(
    ("namespace", "user_id", "personal"),
    [
        ("kitchen/ada", "ada", True),
        ("~0123abcd/kitchen/ada", "ada", True),
        ("kitchen/a%2Fb", "a/b", True),
        ("kitchen/ada", "bob", False),
        ("kitchen/ada", None, False),
        ("kitchen", "ada", False),
    ],
)
def test_a_namespace_is_personal_to_the_user_that_its_template_takes_from_it(
    namespace: str, user_id: str | None, personal: bool
) -> None:
    policy = Policy(name="group", namespaces=("{app_id}/{user_id}", "{app_id}"))

    assert is_personal(namespace, policy, user_id) is personal
