"""Refuses a query parameter that is given several times and takes one value. FastAPI would silently use the last value."""

from typing import Any

from fastapi import Request

from agents.api.http.problems import invalid


async def refuse_repeated_parameters(request: Request) -> None:
    """Raises Problem 422 with the name of the parameter."""
    names = [name for name, _ in request.query_params.multi_items()]
    if len(names) == len(set(names)):
        return
    operation = request.app.state.document()["paths"][request.scope["route"].path_format][request.method.lower()]
    for parameter in operation.get("parameters", ()):
        name, count = parameter["name"], names.count(parameter["name"])
        if parameter["in"] == "query" and count > 1 and not takes_list(parameter["schema"]):
            raise invalid(f"query.{name}: it takes one value, and the request has {count}")


def takes_list(schema: dict[str, Any]) -> bool:
    return any(each.get("type") == "array" for each in (schema, *schema.get("anyOf", ())))
