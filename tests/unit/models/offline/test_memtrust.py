"""memtrust's cases of what must and must not be remembered, answered by the rules, and its hostile filters.

What a session's log, a scheduler and a tool say comes from `system` and `tool` in a chat, and at worst is pasted by a user:
that is how it is said here. A profile that nobody stated comes from the assistant. What is valid comes from the user.
"""

import json
from typing import Any

from agents.models.offline.provider import OfflineProvider
from agents.models.prompts.questions import extraction_question
from schemas import codec
from schemas.conversations.messages import Message, Role
from schemas.errors import Rejected
from schemas.memories.commands import Command
from tests.builders.slices import knowing, said, slice_of
from tests.public_data import required

ROLES: dict[str, tuple[Role, ...]] = {
    "hallucinated_profile": ("assistant",),
    "valid_content": ("user",),
}
ANYWHERE: tuple[Role, ...] = ("user", "assistant", "system", "tool")
LEAST_RIGHT = 14
AT = "2026-03-02T09:00:00Z"
# The keys of a filter in memtrust, as field names of a message.
FIELDS = {"user_id": "user_id", "agent_id": "agent_id", "run_id": "conversation_id"}


def cases(name: str, key: str = "cases") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(required("memtrust", name).read_text())[key]
    return found


async def remembered(content: str, role: Role) -> list[str]:
    answer = await OfflineProvider().extract(slice_of(said(content, role=role)), knowing())
    return [proposal.text for proposal in answer.proposals]


async def test_extraction_decides_enough_memtrust_quality_cases_correctly() -> None:
    wrong = []
    quality = cases("extraction_quality_cases.json")
    for case in quality:
        roles = ROLES.get(case["category"], ANYWHERE)
        stored = [role for role in roles if await remembered(case["content"], role)]
        if stored != (list(roles) if case["should_be_stored"] else []):
            wrong.append((case["case_id"], stored))
    assert len(quality) - len(wrong) >= LEAST_RIGHT, wrong


async def test_a_repeated_memory_becomes_one_proposal_that_repeats_the_known_memory() -> None:
    """A recalled memory that comes back as input must not grow: within an answer it folds, beside a known one it repeats."""
    for case in cases("extraction_quality_cases.json"):
        if not case["should_be_stored"]:
            continue
        (text,) = await remembered(case["content"], "user")
        answer = await OfflineProvider().extract(slice_of(case["content"], case["content"]), knowing(text))
        (again,) = answer.proposals
        assert again.message_ids == ("m1", "m2") and again.repeats == text


def test_replies_in_the_wrong_json_format_are_never_taken_for_an_empty_answer() -> None:
    for case in cases("extraction_quality_cases.json", "malformed_llm_response_cases"):
        question = extraction_question(slice_of(case["content"]), knowing())
        reply = case["raw_llm_response"]
        assert question.read(reply) is None, "it is asked for again"
        assert question.salvaged([reply, reply]) is None, "and rejected, not answered by an empty list"


def test_field_values_that_could_inject_into_a_query_are_rejected_at_decoding() -> None:
    for case in cases("filter_injection_cases.json"):
        value = case["filter_value"] if case["malicious"] else str(case["filter_value"])
        said_by = {"conversation_id": "c", "message_id": "m", "role": "user", "content": "Hi.", "timestamp": AT}
        message = json.dumps(said_by | {FIELDS[case["filter_key"]]: value}).encode()
        command = json.dumps({"command_id": "1", "kind": "delete", "namespace": value, "at": AT}).encode()
        assert [accepted(message, Message), accepted(command, Command)] == [not case["malicious"]] * 2, case["case_id"]


def accepted(record: bytes, shape: type[Message] | type[Command]) -> bool:
    try:
        codec.decode(record, shape)
    except Rejected:
        return False
    return True
