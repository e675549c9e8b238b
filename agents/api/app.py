"""The FastAPI app: routes, authentication, error handlers. It reads no settings and opens nothing."""

from functools import cache
from typing import Any, Final

from fastapi import Depends, FastAPI
from fastapi.routing import APIRoute

from agents.api import openapi
from agents.api.access.authentication import authenticate
from agents.api.http import problems
from agents.api.http.allowed_hosts import AllowedHosts
from agents.api.http.deadline import DeadlineMiddleware
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
    users,
    windows,
)

OPEN: Final = (health.router,)  # no key: what they tell is nobody's
KEYED: Final = (
    me.router,
    *(memories.router, changes.router, commands.router, namespaces.router, events.router, search.router),
    passages.router,
    kinds.router,
    *(trails.router, windows.router),  # before conversations: the address of one begins theirs
    *(context.router, profiles.router, conversations.router, tools.router, mcp.router, description.router),
    *(transfer.router, statistics.router, insights.router, policies.router, users.router, erasures.router),
    *(consolidation_runs.router, consolidation_schedules.router, generations.router, retention.router),
    *(pipeline.router, dead_letters.router, access.router),
)

DESCRIPTION = "Long-term memory for chat systems that live on Kafka: what is remembered, and changing it."
WITHIN_S: Final = 20.0


def create_app(ports: Ports, *, within_s: float = WITHIN_S, local: bool = False) -> FastAPI:
    """An ASGI app over the ports. What has no answer `within_s` is answered with 503.

    A `local` app answers to this machine's names alone.
    """
    app = app_with_routes()
    app.state.ports = ports
    app.state.document = cache(document)
    app.state.methods = methods
    problems.install_error_handlers(app)
    app.add_middleware(DeadlineMiddleware, within_s=within_s)
    if local:
        app.add_middleware(AllowedHosts)
    app.add_middleware(RequestIdMiddleware)
    app.add_middleware(TracingMiddleware)  # the outermost
    return app


def app_with_routes() -> FastAPI:
    """With its routes, and nothing behind them yet."""
    app = FastAPI(
        title="memstream",
        description=DESCRIPTION,
        version=openapi.VERSION,
        openapi_url=None,
        redirect_slashes=False,  # `DELETE /v1/memories/` with an empty id must not become another request
        generate_unique_id_function=lambda route: route.name,  # names of operations are those of functions
    )
    for router in OPEN:
        app.include_router(router)
    for router in KEYED:
        app.include_router(router, dependencies=[Depends(authenticate)])
    app.include_router(panel.router)
    return app


def document() -> dict[str, Any]:
    """The OpenAPI document of all routes."""
    return openapi.document(app_with_routes(), (*OPEN, *KEYED))


def methods(path: str) -> set[str]:
    """That some route of the path takes."""
    routes = (
        route for router in (*OPEN, *KEYED, panel.router) for route in router.routes if isinstance(route, APIRoute)
    )
    return {method for route in routes if route.path_regex.match(path) for method in route.methods or ()}
