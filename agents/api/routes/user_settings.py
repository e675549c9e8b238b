"""Context settings that a user chooses for all of their conversations, within the bounds of the policies."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Response
from msgspec import Struct

from agents.api.access.authentication import CallerOf
from agents.api.access.callers import Caller
from agents.api.access.erasure import erasure_scope, require_rights
from agents.api.http.json_bodies import documented, json_body, json_response
from agents.api.http.problems import conflict, invalid
from agents.api.ports import Ports, PortsOf
from schemas.access.keys import Right
from schemas.conversations.messages import Scope
from schemas.conversations.user_settings import User
from schemas.conversations.window_choices import WindowChoice
from schemas.errors import Rejected
from schemas.policies.namespaces import UNKNOWN

router = APIRouter(prefix="/v1/users", tags=["conversations"])

UserId = Annotated[str, Path(min_length=1, max_length=256)]
OptionalScopeId = Annotated[str | None, Query(min_length=1, max_length=256, description="Default: any.")]


class ChosenByUser(Struct, frozen=True, kw_only=True):
    """The settings that a user chose: for conversations of this tenant and app, or for all where these are null."""

    user: User
    chosen: WindowChoice


class AcceptedChoice(ChosenByUser, frozen=True, kw_only=True):
    """A stored choice. `windows` open windows are notified and apply it within about a second; other conversations apply it
    at their next message."""

    windows: int


@router.get("/{user_id:path}/settings", openapi_extra=documented(ChosenByUser))
async def get_user_settings(
    user_id: UserId, caller: CallerOf, ports: PortsOf, tenant_id: OptionalScopeId = None, app_id: OptionalScopeId = None
) -> Response:
    """The settings that a user chose for the contexts of their conversations."""
    user = User(user_id=user_id, tenant_id=tenant_id, app_id=app_id)
    await require_right(caller, "read", user, ports)
    return json_response(ChosenByUser(user=user, chosen=await ports.user_settings.of(user)))


@router.put("/{user_id:path}/settings", openapi_extra=documented(AcceptedChoice, request_body=WindowChoice))
async def put_user_settings(
    user_id: UserId,
    choice: Annotated[WindowChoice, Depends(json_body(WindowChoice))],
    caller: CallerOf,
    ports: PortsOf,
    tenant_id: OptionalScopeId = None,
    app_id: OptionalScopeId = None,
) -> Response:
    """Choose settings for all conversations of a user. They replace all earlier choices; `{}` returns to the policies'
    settings.

    The policy of each conversation limits the values. Settings of a single conversation take precedence.
    """
    user = User(user_id=user_id, tenant_id=tenant_id, app_id=app_id)
    await require_right(caller, "write", user, ports)
    try:
        choice.require_plausible()
    except ValueError as exc:
        raise invalid(str(exc)) from exc
    try:
        windows = await ports.user_settings.choose(user, choice)
    except Rejected as exc:
        raise conflict(exc.detail) from exc
    return json_response(AcceptedChoice(user=user, chosen=choice, windows=windows))


async def require_right(caller: Caller, right: Right, user: User, ports: Ports) -> None:
    """Requires the right in every namespace that the user's conversations feed, or would feed under their policy. Requires
    it in all namespaces if no app is named or no namespace is known. Raises Problem 403."""
    if user.app_id is None or caller.may_everywhere(right):
        return caller.require_everywhere(right)
    scope = Scope(conversation_id=UNKNOWN, user_id=user.user_id, tenant_id=user.tenant_id, app_id=user.app_id)
    affected = await erasure_scope(ports.owners, ports.policies, user)
    require_rights(caller, right, affected, ports.policies.match(scope).personal_namespaces_of(scope))
    return None
