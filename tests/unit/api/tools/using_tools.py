"""Builds tool calls as a model makes them."""

import json
from typing import Any


async def said(tools: Any, name: str, **given: Any) -> Any:
    answer = await tools.call(name, given)
    assert not answer.is_error, answer.text
    return json.loads(answer.text)


async def refused(tools: Any, name: str, given: Any) -> str:
    answer = await tools.call(name, given)
    assert answer.is_error
    return str(answer.text)


def fields(tools: Any, name: str) -> dict[str, Any]:
    (found,) = [each for each in tools.definitions() if each["name"] == name]
    return dict(found["input_schema"]["properties"])
