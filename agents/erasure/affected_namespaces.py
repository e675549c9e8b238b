"""The namespaces that an erasure affects, and whether they are shared. Pure."""

from collections.abc import Iterable

from schemas import ids
from schemas.conversations.messages import Scope
from schemas.erasure.erasures import Erasure, belongs_to
from schemas.policies.namespaces import OWN_NAMESPACE, parse_name, render, shortened
from schemas.policies.policies import PolicySelector
from sinks.erasure.erasures import How, PlannedNamespace

PERSONAL = ("{user_id}", "{conversation_id}")  # a template with this field makes namespaces of one person


def namespaces_of_user(scope: Scope, policies: PolicySelector) -> Iterable[tuple[str, bool]]:
    """The namespaces that a conversation feeds, and whether each belongs to its user alone. If none names the user, the
    conversation's own name stands for its words."""
    policy = policies.match(scope)
    templates = policy.namespaces if "{user_id}" in "".join(policy.namespaces) else (*policy.namespaces, OWN_NAMESPACE)
    rendered = ((render(template, scope), template) for template in templates)
    for name, template in rendered:
        if name is not None:
            yield shortened(name), any(field in template for field in PERSONAL)


def names_user(
    namespace: str, policies: PolicySelector, user_id: str, tenant_id: str | None, app_id: str | None
) -> bool:
    """Whether the namespace's name contains this user."""
    scopes = (parse_name(template, namespace) for template in policies.governing(namespace).namespaces)
    return any(scope is not None and belongs_to(scope, user_id, tenant_id, app_id) for scope in scopes)


def namespaces_of_conversation(scope: Scope, policies: PolicySelector) -> Iterable[tuple[str, bool]]:
    """The namespaces that a conversation feeds, and whether each belongs to it alone."""
    policy = policies.match(scope)
    for template in policy.namespaces:
        if (name := render(template, scope)) is not None:
            yield shortened(name), "{conversation_id}" in template
    own = render(OWN_NAMESPACE, scope)
    assert own is not None, "a scope has a conversation"
    yield shortened(own), True


def plan_erasure(
    erasure: Erasure, scopes: Iterable[Scope], fed: Iterable[str], named: Iterable[str], policies: PolicySelector
) -> list[PlannedNamespace]:
    """The action for each affected namespace. `scopes` are those of the erasure's conversations, `fed` the namespaces with
    their memories under any policy, `named` those that contain the user's name."""
    own: dict[str, bool] = dict.fromkeys(fed, False)
    scopes = tuple(scopes)
    for_user = erasure.kind == "user"
    shared = {scope.conversation_id for scope in scopes if for_user and is_of_another(scope, erasure)}
    for scope in scopes:
        theirs = for_user and is_theirs(scope, erasure)
        personal = policies.match(scope).personal_namespaces_of(scope) if theirs else ()
        for name, alone in (
            namespaces_of_user(scope, policies) if theirs else namespaces_of_conversation(scope, policies)
        ):
            # With other speakers, neither the conversation nor its namespace is the user's alone.
            own[name] = own.get(name, False) or (alone and (scope.conversation_id not in shared or name in personal))
    if erasure.kind == "user" and erasure.user_id is not None:
        for name in named:
            if names_user(name, policies, erasure.user_id, erasure.tenant_id, erasure.app_id):
                own[name] = True
    return [plan_namespace(erasure, name, alone) for name, alone in sorted(own.items())]


def is_theirs(scope: Scope, erasure: Erasure) -> bool:
    return belongs_to(scope, erasure.user_id, erasure.tenant_id, erasure.app_id)


def is_of_another(scope: Scope, erasure: Erasure) -> bool:
    return scope.user_id is not None and not is_theirs(scope, erasure)


def plan_namespace(erasure: Erasure, namespace: str, alone: bool) -> PlannedNamespace:
    """The plan for a namespace. The command id is derived, so a command sent again is applied once."""
    how: How = "purge" if alone else "forget"
    return PlannedNamespace(namespace, how, ids.derive("erase", erasure.erasure_id, namespace, how))
