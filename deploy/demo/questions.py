"""Questions about the samples that passages answer and memories do not."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from deploy.cli import terminal
from deploy.settings import Settings
from deploy.wiring.policy_store import policies_in_effect, stored_policies
from deploy.wiring.search import index, retrieval
from schemas.conversations.messages import Moment
from schemas.counts import counted
from schemas.retrieval.searches import Query
from sinks.memories.reader import Memories
from sinks.postgres.connection import Pool


class Question(NamedTuple):
    """A question and its namespace."""

    namespace: str
    text: str


QUESTIONS: Final = (
    Question("notes/mara", "How many people are on the translation of the atlas?"),
    Question("notes/tom", "How long should the next long run be?"),
)


class AnsweredQuestion(Struct, frozen=True, kw_only=True):
    """The best passage for a question, and the memories of its message: none for these questions."""

    namespace: str
    question: str
    said_at: Moment
    speaker: str
    text: str
    message_id: str
    memory_ids: tuple[str, ...]

    @property
    def remembered(self) -> str:
        return counted(len(self.memory_ids), "memories") if self.memory_ids else "no memory"


async def answers(settings: Settings, pool: Pool, questions: Sequence[Question] = QUESTIONS) -> list[AnsweredQuestion]:
    """Answers by passage search; questions without an answer are missing. Raises Retryable."""
    policies = policies_in_effect(settings, await stored_policies(settings))
    async with index(settings) as vectors:
        search = retrieval(pool, vectors, policies)
        found = [
            (
                question,
                await search.search(Query(namespaces=(question.namespace,), text=question.text, tier="said", limit=1)),
            )
            for question in questions
        ]
    best = [(question, each.said[0].passage) for question, each in found if each.said]
    messages = [(passage.conversation_id, passage.message_id) for _, passage in best]
    memory_ids = await Memories(pool).from_messages(messages, [question.namespace for question, _ in best])
    return [
        AnsweredQuestion(
            namespace=question.namespace,
            question=question.text,
            said_at=passage.said_at,
            speaker=passage.speaker,
            text=passage.text,
            message_id=passage.message_id,
            memory_ids=memory_ids.get(message, ()),
        )
        for (question, passage), message in zip(best, messages, strict=True)
    ]


def show_answers(answered: Sequence[AnsweredQuestion]) -> None:
    terminal.show_table(
        "\nQuestions without a memory, answered by passages of messages",
        ("question", "said", "by", "on", "message", "remembered"),
        [
            (each.question, each.text, each.speaker, f"{each.said_at:%Y-%m-%d}", each.message_id, each.remembered)
            for each in answered
        ],
        wide="said",
    )
