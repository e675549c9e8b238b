"""The API's checks on the request fields that memstream uses, with its error messages."""

import re
from typing import Any

from aiohttp import web

from tests.servers.messages.faults import FAULTS, Fault, bad_request

KEY = "sk-ant-EXAMPLE-not-a-key-0000"
MODELS = ("claude-test-1", "claude-test-2")
# Names of models that the API accepts, besides those that it lists.
MODEL_NAME = re.compile(r"claude-(test|haiku|sonnet|opus)-[0-9-]+")
VERSION = re.compile(r"\d{4}-\d{2}-\d{2}")
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
# Of what the API takes and this server does not act upon, only what changes no answer.
COUNTED = {"model", "messages", "system", "tools", "tool_choice", "output_config"}
KNOWN = COUNTED | {
    "max_tokens",
    "thinking",
    "metadata",
    "service_tier",
    "stop_sequences",
    "temperature",
    "top_k",
    "top_p",
}


def wrong_headers(request: web.Request) -> Fault | None:
    # The API takes the key under either name; which one the SDK uses depends on its version.
    if KEY not in (request.headers.get("x-api-key"), request.headers.get("authorization", "").removeprefix("Bearer ")):
        return FAULTS["unauthorized"]
    if not VERSION.fullmatch(request.headers.get("anthropic-version", "")):
        return bad_request("anthropic-version: header is required, a date")
    if request.body_exists and request.content_type != "application/json":
        return bad_request("content-type: must be application/json")
    return None


def wrong_body(body: dict[str, Any]) -> Fault | None:
    """Checks a request for a message."""
    if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        return bad_request("max_tokens: must be a positive integer")
    return wrong_input(body, KNOWN)


def wrong_input(body: dict[str, Any], known: set[str]) -> Fault | None:
    """Checks a request for a message or for a token count, except for the limits of the answer."""
    if not MODEL_NAME.fullmatch(str(body.get("model"))):
        return Fault(404, "not_found_error", f"model: {body.get('model')}")
    messages = body.get("messages") or []
    if not messages or messages[0].get("role") != "user" or any(not message.get("content") for message in messages):
        return bad_request("messages: must begin with a user message and have content")
    if unknown := sorted(set(body) - known):
        return bad_request(f"{unknown[0]}: Extra inputs are not permitted")
    return wrong_tools(body) or wrong_tool_results(messages) or wrong_format(body)


def wrong_tools(body: dict[str, Any]) -> Fault | None:
    tools, choice = body.get("tools", []), body.get("tool_choice")
    for index, tool in enumerate(tools):
        at = f"tools.{index}.custom"
        if not TOOL_NAME.fullmatch(tool.get("name", "")):
            return bad_request(f"{at}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        if not isinstance(tool.get("description", ""), str):
            return bad_request(f"{at}.description: Input should be a valid string")
        if tool.get("input_schema", {}).get("type") != "object":
            return bad_request(f"{at}.input_schema.type: Field required")
        if tool.get("strict") and (said := wrong_grammar(tool["input_schema"])):
            return bad_request(f"{at}.input_schema: {said}")
    if choice and not tools:
        return bad_request("tool_choice: may only be specified while providing tools")
    if choice and choice["type"] == "tool" and choice["name"] not in [tool["name"] for tool in tools]:
        return bad_request(f"tool_choice.name: tool '{choice['name']}' not found in provided tools")
    return None


def wrong_tool_results(messages: list[dict[str, Any]]) -> Fault | None:
    """A tool that was used has its result in the very next message."""
    for index, message in enumerate(messages):
        used = {block["id"] for block in blocks_of(message) if block["type"] == "tool_use"}
        after = messages[index + 1] if index + 1 < len(messages) else {"content": []}
        answered = {block["tool_use_id"] for block in blocks_of(after) if block["type"] == "tool_result"}
        if used - answered:
            missing = f"`tool_use` ids were found without `tool_result` blocks immediately after: {sorted(used - answered)[0]}"
            return bad_request(f"messages.{index + 1}: {missing}")
    return None


def blocks_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def wrong_format(body: dict[str, Any]) -> Fault | None:
    """Structured outputs want closed objects and none of the keywords that a grammar cannot hold."""
    if "output_config" not in body:
        return None
    wanted = body["output_config"].get("format") or {}
    if wanted.get("type") != "json_schema":
        return bad_request("output_config.format: must be a json_schema")
    said = wrong_grammar(wanted["schema"])
    return bad_request(f"output_config.format.schema: {said}") if said else None


def wrong_grammar(schema: dict[str, Any]) -> str | None:
    """Returns the error of a schema that structured outputs or strict tools do not support."""
    parts = nested(schema)
    if any(part.get("type") == "object" and part.get("additionalProperties") is not False for part in parts):
        return "additionalProperties must be false"
    unsupported = {"minimum", "maximum", "minLength", "maxLength", "maxItems"}
    return "unsupported keyword" if any(unsupported & set(part) for part in parts) else None


def nested(schema: object) -> list[dict[str, Any]]:
    if isinstance(schema, list):
        return [each for item in schema for each in nested(item)]
    if not isinstance(schema, dict):
        return []
    return [schema, *(each for value in schema.values() for each in nested(value))]
