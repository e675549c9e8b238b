"""The FastAPI app: routes, authentication, error handlers. It reads no settings and opens no connections."""

from functools import cache
from typing import Any, Final

from fastapi import Depends, FastAPI
from fastapi.routing import APIRoute

from agents.api import openapi
from agents.api.access.authentication import authenticate
from agents.api.http import problems
from agents.api.http.allowed_hosts import AllowedHosts
from agents.api.http.deadline import DeadlineMiddleware
from agents.api.http.query_parameters import check_query_parameters
from agents.api.http.request_ids import RequestIdMiddleware
from agents.api.http.tracing import TracingMiddleware
from agents.api.ports import Ports
from agents.api.routes import (
    access,
    changes,
    commands,
    consolidation_runs,
    consolidation_schedules,
    context,
    conversations,
    dead_letters,
    description,
    erasures,
    events,
    generations,
    health,
    insights,
    kinds,
    mcp,
    me,
    memories,
    namespaces,
    panel,
    passages,
    pipeline,
    policies,
    profiles,
    retention,
    search,
    statistics,
    tools,
    trails,
    transfer,
    user_settings,
    users,
    windows,
    wishes,
)

PUBLIC_ROUTERS: Final = (health.router,)  # no key required
AUTHENTICATED_ROUTERS: Final = (
    me.router,
    *(memories.router, changes.router, commands.router, namespaces.router, events.router, search.router),
    *(wishes.router, passages.router, kinds.router),
    *(trails.router, windows.router),  # before conversations, whose path parameter matches these paths too
    *(context.router, profiles.router, conversations.router, tools.router, mcp.router, description.router),
    *(
        transfer.router,
        statistics.router,
        insights.router,
        policies.router,
        users.router,
        user_settings.router,
        erasures.router,
    ),
    *(consolidation_runs.router, consolidation_schedules.router, generations.router, retention.router),
    *(pipeline.router, dead_letters.router, access.router),
)

DESCRIPTION = "Long-term memory for chat systems on Kafka: read, search and change memories."
TIMEOUT_S: Final = 20.0


def create_app(ports: Ports, *, timeout_s: float = TIMEOUT_S, local: bool = False) -> FastAPI:
    """Returns an ASGI app over the ports. A request without a response after `timeout_s` seconds gets a 503.

    With `local`, the app only accepts the host names of loopback.
    """
    document()  # 0.1 s of CPU: not at the first request
    app = app_with_routes()
    app.state.ports = ports
    app.state.document = document
    app.state.methods = methods
    problems.install_error_handlers(app)
    app.add_middleware(DeadlineMiddleware, timeout_s=timeout_s)
    if local:
        app.add_middleware(AllowedHosts)
    app.add_middleware(RequestIdMiddleware)
    app.add_middleware(TracingMiddleware)  # outermost
    return app


def app_with_routes() -> FastAPI:
    """Returns the app with its routes, without ports or middleware."""
    app = FastAPI(
        title="memstream",
        description=DESCRIPTION,
        version=openapi.VERSION,
        openapi_url=None,
        redirect_slashes=False,  # `DELETE /v1/memories/` with an empty id must not become another request
        generate_unique_id_function=lambda route: route.name,  # operation ids are function names
    )
    for router in PUBLIC_ROUTERS:
        app.include_router(router)
    for router in AUTHENTICATED_ROUTERS:
        app.include_router(router, dependencies=[Depends(authenticate), Depends(check_query_parameters)])
    app.include_router(panel.router)
    return app


@cache
def document() -> dict[str, Any]:
    """Returns the OpenAPI document of all routes, which callers share."""
    return openapi.document(app_with_routes(), (*PUBLIC_ROUTERS, *AUTHENTICATED_ROUTERS))


def methods(path: str) -> set[str]:
    """Returns the HTTP methods that the routes of the path accept together."""
    routes = (
        route
        for router in (*PUBLIC_ROUTERS, *AUTHENTICATED_ROUTERS, panel.router)
        for route in router.routes
        if isinstance(route, APIRoute)
    )
    return {method for route in routes if route.path_regex.match(path) for method in route.methods or ()}
