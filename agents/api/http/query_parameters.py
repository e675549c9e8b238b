"""Refuses query parameters that FastAPI would silently ignore: unknown ones, and all but the last value of one that takes one."""

from collections import Counter
from typing import Any

from fastapi import Request

from agents.api.http.problems import invalid


async def check_query_parameters(request: Request) -> None:
    """Raises Problem 422 with the name of the parameter."""
    given = Counter(name for name, _ in request.query_params.multi_items())
    if not given:
        return
    operation = request.app.state.document()["paths"][request.scope["route"].path_format][request.method.lower()]
    schemas = {each["name"]: each["schema"] for each in operation.get("parameters", ()) if each["in"] == "query"}
    for name, count in given.items():
        if name not in schemas:
            raise invalid(f"query.{name}: no such parameter; there are {', '.join(sorted(schemas)) or 'none'}")
        if count > 1 and not takes_list(schemas[name]):
            raise invalid(f"query.{name}: it takes one value, and the request has {count}")


def takes_list(schema: dict[str, Any]) -> bool:
    return any(each.get("type") == "array" for each in (schema, *schema.get("anyOf", ())))
