"""How the reply to an extraction question is read: what counts, and what is asked for once more."""

import json

from agents.models.calls.exchange import ModelReply
from agents.models.model_provider import ModelProvider
from agents.models.port import Usage
from agents.models.prompts.extraction import data_part
from agents.models.prompts.questions import Question, extraction_question
from tests.builders.slices import knowing, known, slice_of
from tests.fakes.calls import FakeCalls


class SayingCalls(FakeCalls):
    """Every reply is the given text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    async def call(self, question: Question, turns: object, max_tokens: int) -> ModelReply:
        return ModelReply(text=self.text, truncated=False, model="fake-1", usage=Usage())


async def test_an_answer_names_only_known_memories_that_the_prompt_shows() -> None:
    hobbies = [known(f"User has the hobby number {number}, of which there is a lot to tell.") for number in range(1, 9)]
    quit_ = {"kind": "fact", "text": "User quit.", "messages": [1], "confidence": 0.9, "importance": 0.5}
    calls = SayingCalls(json.dumps({"memories": [quit_ | {"supersedes": [1]}, quit_ | {"supersedes": [7]}]}))
    request, context = slice_of("I quit."), knowing(*hobbies)
    shown = data_part(request, context).split("<memories>\n")[1].split("</memories>")[0].splitlines()
    answer = await ModelProvider(calls).extract(request, context)
    assert len(shown) < 7
    assert answer.proposals[0].supersedes == (hobbies[0].memory_id,)
    assert answer.rejected == {"unknown_id": 1}


def test_a_hard_constraint_that_is_too_long_is_asked_for_once_more_and_then_cut() -> None:
    text = f"User is allergic to {', '.join(f'nut number {number}' for number in range(20))} and penicillin."
    written = {"kind": "fact", "text": text, "messages": [1], "confidence": 0.9, "importance": 0.9}
    question = extraction_question(slice_of("I have a few allergies."), knowing())

    def reply(**fields: object) -> str:
        return json.dumps({"memories": [written | fields]})

    assert question.read(reply()) is None
    assert question.read(reply(importance=0.5, tags=["constraint"])) is None
    assert question.read(reply(importance=0.5)) is not None
    assert question.read(reply(text="User is allergic to penicillin.")) is not None
    kept = question.salvaged([reply(), reply(tags=["health"])])
    assert kept is not None
    assert kept.drafts[0]["tags"] == ["health"]


def test_a_text_that_is_far_too_long_is_asked_for_once_more() -> None:
    written = {"kind": "fact", "text": "word " * 500, "messages": [1], "confidence": 0.9, "importance": 0.5}
    question = extraction_question(slice_of("This is a long story."), knowing())
    assert question.read(json.dumps({"memories": [written]})) is None
