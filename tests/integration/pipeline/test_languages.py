"""The same facts in two languages become one memory where a model resolves them, and one language where a policy sets
it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from tests.builders.chat_events import talk
from tests.deployment import Deployment
from tests.servers.messages import KEY, MODELS, MessagesServer
from tests.servers.messages.replies import prompt_of, schema_of, system_of
from tests.servers.rule_answers import fenced
from tests.servers.scripted import UNSCRIPTED, in_a_thread

SAID = {
    "Ich bin gegen Erdnüsse allergisch.": "I'm allergic to peanuts.",
    "Ich wohne in Turku.": "I live in Turku.",
}
TRANSLATED = {"Erdnüsse": "User is allergic to peanuts.", "Turku": "User lives in Turku."}
POLICIES = [
    {"name": "one", "match": {"app_id": "one"}, "resolve": True, "one_language": "en", "share_wait_s": 0},
    {"name": "two", "resolve": True, "share_wait_s": 0},
]


def translating(body: dict[str, Any]) -> str:
    """A model that knows these two facts in both languages. What it resolves it reads from the question alone."""
    prompt, system = prompt_of(body), "".join(block["text"] for block in system_of(body))
    if "verdicts" in schema_of(body).get("properties", {}):
        known = {fact_of(each["text"]): each["number"] for each in fenced(prompt, "memories")}
        said = {each["number"]: known.get(fact_of(each["text"])) for each in fenced(prompt, "statements")}
        verdicts = [
            {"number": number, "same": same, "text": None, "ends": [], "corrects": []}
            for number, same in said.items()
            if same is not None
        ]
        return "text:" + json.dumps({"verdicts": verdicts})
    if "<transcript>" in prompt and 'in the language "en"' in system:
        fact = next(text for word, text in TRANSLATED.items() if word in prompt.replace("peanuts", "Erdnüsse"))
        draft = {"kind": "fact", "text": fact, "messages": [1], "confidence": 0.9, "importance": 0.8, "language": "de"}
        return "text:" + json.dumps({"memories": [draft]})
    return UNSCRIPTED


def fact_of(text: str) -> str | None:
    found = re.search(r"Turku|Erdnüsse|peanuts", text)
    return found and ("Turku" if found[0] == "Turku" else "nuts")


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with in_a_thread(MessagesServer()) as server:
        server.choose = translating
        yield server


@pytest.fixture
async def deployment(deploy: Any, server: MessagesServer, tmp_path: Path) -> Deployment:
    (tmp_path / "policies.json").write_text(json.dumps(POLICIES))
    return await deploy(
        "languages",
        policies_file=tmp_path / "policies.json",
        provider="claude",
        claude_model=MODELS[0],
        anthropic_base_url=server.url,
        anthropic_api_key=SecretStr(KEY),
    )


async def test_the_same_facts_in_german_and_english_become_one_memory_each(deployment: Deployment) -> None:
    await deployment.worker()
    german = [event for number, text in enumerate(SAID) for event in talks(f"de-{number}", text)]
    await deployment.publish(*german)
    await deployment.settled()
    await deployment.publish(
        *(event for number, text in enumerate(SAID.values()) for event in talks(f"en-{number}", text))
    )
    await deployment.settled()

    rows = await deployment.fetch(
        "SELECT namespace, text, language, reinforcement_count, sources FROM memories WHERE status = 'active'"
    )
    found = {name: [row for row in rows if row["namespace"] == f"{name}/ada"] for name in ("one", "two")}
    for memories in found.values():
        assert len(memories) == 2
        assert {row["reinforcement_count"] for row in memories} == {1}
        assert all(len({each["conversation_id"] for each in row["sources"]}) == 2 for row in memories)
    assert {row["text"] for row in found["one"]} == {*TRANSLATED.values()}
    assert {row["language"] for row in found["one"]} == {"en"}
    assert {row["language"] for row in found["two"]} == {"de"}


def talks(conversation: str, text: str) -> list[Any]:
    return [event for app in ("one", "two") for event in talk(f"{app}-{conversation}", text, app_id=app, user_id="ada")]
