"""Replies of the Messages API: content, stop reason and billed usage."""

import json
from typing import Any, NamedTuple

from tests.servers.messages.checks import blocks_of
from tests.servers.rule_answers import answer_for, tokens

EPHEMERAL = {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0}


class Reply(NamedTuple):
    """Content blocks and the reason to stop."""

    content: list[dict[str, Any]]
    stop_reason: str


class Bill(NamedTuple):
    """The usage that one message was billed, and the request that it answers."""

    body: dict[str, Any]
    usage: dict[str, Any]

    @property
    def tokens(self) -> int:
        """All that are billed, at whatever price."""
        kinds = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        return sum(self.usage[kind] for kind in kinds)


def replied(body: dict[str, Any], step: str) -> Reply:
    """`step` as MessagesServer has it, of those that answer at all."""
    if step.startswith("text:"):
        return said(step.removeprefix("text:"))
    if step.startswith("use:"):
        return using(json.loads(step.removeprefix("use:")), f"toolu_{len(body['messages']):04d}")
    if step == "empty":
        return Reply([], "end_turn")
    if step == "refusal":
        return Reply([], "refusal")
    if step == "context_exceeded":
        return Reply([], "model_context_window_exceeded")
    tool = chosen_tool(body)
    if tool is not None:
        return used(tool, answer_for(prompt_of(body), tool["input_schema"]), f"toolu_{len(body['messages']):04d}")
    text = (
        json.dumps(answer_for(prompt_of(body), schema_of(body)), ensure_ascii=False)
        if schema_of(body)
        else "Understood."
    )
    return Reply(said(text[: len(text) // 2]).content, "max_tokens") if step == "truncated" else said(text)


def said(text: str) -> Reply:
    return Reply([{"type": "text", "text": text}] if text else [], "end_turn")


def used(tool: dict[str, Any], given: dict[str, Any], use_id: str) -> Reply:
    return Reply([{"type": "tool_use", "id": use_id, "name": tool["name"], "input": given}], "tool_use")


def using(uses: list[dict[str, Any]], use_id: str) -> Reply:
    """Several tools at once, whether or not they were offered."""
    blocks = [{"type": "tool_use", "id": f"{use_id}_{number}", **use} for number, use in enumerate(uses)]
    return Reply(blocks, "tool_use")


def chosen_tool(body: dict[str, Any]) -> dict[str, Any] | None:
    """The tool that must be used; if any or none may, the first one until a result of it is there."""
    tools, choice = body.get("tools", []), body.get("tool_choice", {"type": "auto"})
    if not tools or choice["type"] == "none":
        return None
    if choice["type"] == "tool":
        return next(tool for tool in tools if tool["name"] == choice["name"])
    has_results = any(block["type"] == "tool_result" for block in blocks_of(body["messages"][-1]))
    return None if choice["type"] == "auto" and has_results else tools[0]


def prompt_of(body: dict[str, Any]) -> str:
    """The text of the first message."""
    return "".join(block["text"] for block in blocks_of(body["messages"][0]) if block["type"] == "text")


def schema_of(body: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = body.get("output_config", {}).get("format", {}).get("schema", {})
    return schema


def system_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    return blocks_of({"content": body.get("system", [])})


class PromptCache:
    """Blocks up to the last one with cache_control are written once, and read from then on; a schema and tools are input."""

    def __init__(self) -> None:
        self._prefixes: set[str] = set()

    def billed(self, body: dict[str, Any], content: list[dict[str, Any]], tier: str) -> dict[str, Any]:
        """The usage of a message; its prefix is cached from now on."""
        prefix, rest = split_at_the_mark(system_of(body))
        read = prefix in self._prefixes
        if prefix:
            self._prefixes.add(prefix)
        written = 0 if read else tokens(prefix)
        return {
            "input_tokens": tokens(rest + fresh(body)),
            "output_tokens": max(
                1, sum(tokens(json.dumps(block.get("input", block.get("text")))) for block in content)
            ),
            "cache_read_input_tokens": tokens(prefix) if read else 0,
            "cache_creation_input_tokens": written,
            "cache_creation": EPHEMERAL | {"ephemeral_5m_input_tokens": written},
            "server_tool_use": None,
            "service_tier": tier,
        }


def split_at_the_mark(blocks: list[dict[str, Any]]) -> tuple[str, str]:
    """The texts up to the last block with cache_control, and those after it."""
    marked = [index for index, block in enumerate(blocks) if "cache_control" in block]
    split = marked[-1] + 1 if marked else 0
    return "".join(block["text"] for block in blocks[:split]), "".join(block["text"] for block in blocks[split:])


def fresh(body: dict[str, Any]) -> str:
    """Returns the input text besides the system prompt."""
    parts = [body["messages"], *([schema_of(body)] if schema_of(body) else []), *body.get("tools", [])]
    return "".join(json.dumps(part) for part in parts)


def counted(body: dict[str, Any]) -> int:
    """Input tokens of a request that is not sent, cache or no cache."""
    return tokens("".join(split_at_the_mark(system_of(body))) + fresh(body))
