"""Namespaces of one person, by the templates of their policy."""

from schemas.policies.namespaces import parse_name
from schemas.policies.policies import Policy
from schemas.policies.shadows import live_namespace_of


def is_personal(namespace: str, policy: Policy, user_id: str | None) -> bool:
    """Whether a namespace is this person's alone, by the templates of its policy. The name of a shared namespace may look like
    a personal one, so the user_id in it must be theirs."""
    return user_id is not None and user_id in users_of_name(namespace, policy)


def names_one_person(namespace: str, policy: Policy) -> bool:
    """Whether the namespace has the form of a person's, by the templates of its policy."""
    return bool(users_of_name(namespace, policy))


def users_of_name(namespace: str, policy: Policy) -> set[str | None]:
    """The user_ids that the name has by the templates of the policy."""
    live = live_namespace_of(namespace)
    found = (parse_name(each, live) for each in policy.namespaces if "{user_id}" in each)
    return {scope.user_id for scope in found if scope is not None}
