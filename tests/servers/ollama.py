"""A local Ollama server: it validates requests as Ollama does, answers by rules, truncates prompts as its versions do,
reports prompt caching, and has faults on demand."""

import json
from collections.abc import Iterable
from itertools import takewhile
from typing import Any

from aiohttp import web

from tests.servers.rule_answers import answer_for
from tests.servers.scripted import ScriptedServer

MODEL = "llama-test:latest"
EMBEDDER = "embed-test:latest"
DEFAULT_WINDOW = 4_096
MOMENT = "2026-03-02T09:00:00.000000Z"
# Ollama's statuses and messages; the oldest message for a missing model is that of its scheduler.
FAULTS = {
    "bad_request": (400, 'option "num_ctx" must be of type integer'),
    "overlong": (400, "the input length exceeds the context length"),
    "unauthorized": (401, "unauthorized"),
    "cloud_disabled": (403, "ollama cloud is disabled: remote model details are unavailable"),
    "not_found": (404, 'model "gone" not found, try pulling it first'),
    "too_many": (429, "too many requests"),
    "cancelled": (499, "request canceled"),
    "server_error": (500, "llama runner process has terminated: signal: killed"),
    "no_memory": (500, "model requires more system memory (5.6 GiB) than is available (3.1 GiB)"),
    "cloud_away": (502, "upstream unavailable"),
    "busy": (503, "server busy, please try again.  maximum pending requests exceeded"),
}


class OllamaServer(ScriptedServer):
    """`async with OllamaServer() as server:`; use `MODEL` at `server.url`.

    A step of the script is a name in FAULTS, one of ScriptedServer.between, `truncated`, `shortened` (an answer to half of
    the prompt, visible by its token count only), `uncounted` (no count for a cached prompt, as old versions), or `text:` and
    the answer. Other requests are answered or summarised by the offline rules. `refuses`: `truncate` and `shift` are
    honoured, as since 0.12.6. `trained` is the model's own context in tokens. `seen` has the bodies of the chat requests.
    """

    def __init__(self, refuses: bool = True, trained: int = 131_072, chars_per_token: int = 4) -> None:
        super().__init__()
        self._refuses = refuses
        self._trained = trained
        self._chars_per_token = chars_per_token
        self._cached = ""

    def routes(self) -> Iterable[web.RouteDef]:
        return (
            web.get("/api/version", self._version),
            web.get("/api/tags", self._tags),
            web.post("/api/chat", self._chat),
        )

    async def _version(self, request: web.Request) -> web.Response:
        return web.json_response({"version": "0.12.6" if self._refuses else "0.12.5"})

    async def _tags(self, request: web.Request) -> web.Response:
        return web.json_response({"models": [listed(name) for name in (MODEL, EMBEDDER)]})

    async def _chat(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.seen.append(body)
        wrong = wrong_body(body)
        if wrong is not None:
            return fault(*wrong)
        step = self.step(body)
        if step in FAULTS:
            return fault(*FAULTS[step])
        between = await self.between(step)
        if between is not None:
            return between
        return self._answered(body, step)

    def _answered(self, body: dict[str, Any], step: str) -> web.Response:
        options = body.get("options", {})
        window = min(options.get("num_ctx", DEFAULT_WINDOW), self._trained)
        prompt = rendered(body["messages"])
        sent = self._tokens(prompt)
        if sent >= window and self._refuses and body.get("truncate") is False:
            return fault(400, overlong(sent, window))
        read = sent if sent < window else self._shortened(window)
        if step == "shortened":
            read = sent // 2
        text, reason = self._said(body, step, reply_tokens(options, window - read))
        answer = {
            "model": body["model"],
            "created_at": MOMENT,
            "message": {"role": "assistant", "content": text},
            "done": True,
            "done_reason": reason,
            "total_duration": 2_000_000,
            "load_duration": 1_000_000,
            "prompt_eval_duration": 500_000,
            "eval_count": self._tokens(text),
            "eval_duration": 500_000,
        }
        if step != "uncounted":
            answer["prompt_eval_count"] = read
            answer["prompt_eval_cached_count"] = self._read_from_cache(prompt)
        return web.json_response(answer)

    def _shortened(self, window: int) -> int:
        """The tokens left of a prompt that does not fit: the whole window, or about half of it in versions that can refuse."""
        return window // 2 + 2 if self._refuses else window

    def _said(self, body: dict[str, Any], step: str, most: int) -> tuple[str, str]:
        text = (
            step.removeprefix("text:")
            if step.startswith("text:")
            else json.dumps(answer_for(question_of(body), body["format"]))
        )
        if step == "truncated":
            return text[: len(text) // 2], "length"
        if self._tokens(text) > most:
            return text[: most * self._chars_per_token], "length"
        return text, "stop"

    def _read_from_cache(self, prompt: str) -> int:
        """The number of leading tokens that this prompt shares with the previous one."""
        same = takewhile(lambda pair: pair[0] == pair[1], zip(self._cached, prompt, strict=False))
        shared = sum(1 for _ in same)
        self._cached = prompt
        return shared // self._chars_per_token

    def _tokens(self, text: str) -> int:
        return -(-len(text) // self._chars_per_token)


def fault(status: int, text: str) -> web.Response:
    return web.json_response({"error": text}, status=status)


def overlong(sent: int, window: int) -> str:
    """The error of llama-server, which Ollama passes on as a string."""
    refusal = {
        "code": 400,
        "message": f"request ({sent} tokens) exceeds the available context size ({window} tokens), try increasing it",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": sent,
        "n_ctx": window,
    }
    return json.dumps({"error": refusal}, separators=(",", ":"))


def listed(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "model": name,
        "modified_at": MOMENT,
        "size": 2_019_393_189,
        "digest": "a80c4f17acd55265feec403c7aef86be0c25983ab279d83f3bcd3abbcb5b8b72",
        "details": {
            "parent_model": "",
            "format": "gguf",
            "family": "llama",
            "families": ["llama"],
            "parameter_size": "3.2B",
            "quantization_level": "Q4_K_M",
        },
    }


def wrong_body(body: dict[str, Any]) -> tuple[int, str] | None:
    """Ollama's validation of the parts of a request that memstream uses, in Ollama's order. Unknown options are ignored."""
    wanted = body.get("format")
    if not body.get("model"):
        return 400, "model is required"
    name = body["model"] if ":" in body["model"] else f"{body['model']}:latest"
    if name.lower() not in (MODEL, EMBEDDER):
        return 404, f"model '{body['model']}' not found"
    if body.get("think"):
        return 400, f'"{body["model"]}" does not support thinking'
    if name.lower() == EMBEDDER:
        return 400, f'"{body["model"]}" does not support chat'
    if body.get("stream") is not False:
        raise AssertionError("without `stream: false` the answer is many lines: this server writes but one")
    if wanted != "json" and not isinstance(wanted, dict):
        return 500, f'invalid format: {json.dumps(wanted)}; expected "json" or a valid JSON Schema object'
    return None


def rendered(messages: list[dict[str, str]]) -> str:
    """The prompt by a chat template; the marks of turns count too."""
    turns = [f"<|{message['role']}|>\n{message['content']}<|end|>\n" for message in messages]
    return "".join([*turns, "<|assistant|>\n"])


def reply_tokens(options: dict[str, Any], room: int) -> int:
    max_tokens: int = options.get("num_predict", -1)
    return max(0, room if max_tokens < 0 else min(max_tokens, room))


def question_of(body: dict[str, Any]) -> str:
    """The text of the first user message."""
    text: str = next(message["content"] for message in body["messages"] if message["role"] == "user")
    return text
