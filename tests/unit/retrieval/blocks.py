"""Builds context blocks from memories, messages and passages for tests."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from agents.retrieval.block import block
from agents.retrieval.block_parts import Limits
from agents.retrieval.block_style import BlockStyle
from deploy.policies.files import preset, read_file
from schemas.conversations.messages import Message, Scope
from schemas.memories.memories import Memory
from schemas.passages.passages import Passage
from schemas.policies.block_settings import BlockSettings
from schemas.retrieval.blocks import Block
from schemas.retrieval.searches import Hit, SaidHit

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


SCOPE = Scope(conversation_id="talk", app_id="kitchen", user_id="ada")
RATED = BlockStyle.of(BlockSettings(), "kitchen/ada", SCOPE)


BARE = BlockStyle("", "{text}", "")


def words(text: str) -> int:
    """Tokens as the tests count them: words, and the ends of lines."""
    return len(text.split()) + text.count("\n")


def nothing(memory: Memory, whole: frozenset[str]) -> bool:
    return False


def from_messages(memory: Memory, whole: frozenset[str]) -> bool:
    return bool(memory.sources) and all(source.message_id in whole for source in memory.sources)


def hits(*memories: Memory) -> list[Hit]:
    return [Hit(score=1.0 - place / 100, memory=memory) for place, memory in enumerate(memories)]


def said(*turns: tuple[str, str]) -> list[Message]:
    return [
        Message(
            conversation_id="talk",
            message_id=f"m{number}",
            role=role,  # type: ignore[arg-type]
            content=content,
            timestamp=NOON + timedelta(seconds=number),
        )
        for number, (role, content) in enumerate(turns, start=1)
    ]


def built_block(
    found: Sequence[Hit] = (),
    tail: Sequence[Message] = (),
    style: BlockStyle = RATED,
    is_known: Callable[[Memory, frozenset[str]], bool] = nothing,
    earlier: Sequence[SaidHit] = (),
    **limits: Any,
) -> Block:
    given = {"max_tokens": 200, "max_memories": 10, "tail_share": 0.5, "max_said": 5, "said_share": 0.25} | limits
    return block(found, tail, style, Limits(**given), words, is_known, earlier)


def passages(*texts: str, **fields: Any) -> list[SaidHit]:
    """Hits from different messages, each a day after the previous one, the best first."""
    made = [
        Passage(
            **{"passage_id": f"{number:08}-passage", "namespace": "n", "conversation_id": "trip", "role": "user"}  # type: ignore[arg-type]
            | {"message_id": f"trip-{number}", "speaker": "ada", "said_at": NOON + timedelta(days=number), "text": text}
            | fields
        )
        for number, text in enumerate(texts, start=1)
    ]
    return [SaidHit(passage=passage, score=1.0 - place / 100) for place, passage in enumerate(made)]


def styled(name: str, scope: Scope = SCOPE, **settings: Any) -> BlockStyle:
    (written,) = read_file(preset(name))
    return BlockStyle.of(written.policy.block, "kitchen", scope, **settings)
