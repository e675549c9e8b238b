"""Recall returns matching memories and recent messages, each once, by the conversation's policy."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from agents.conversations.lookup import Conversation, Conversations
from agents.retrieval.recall import Recall
from schemas.extraction.candidates import Source
from schemas.passages.passages import Passage
from schemas.policies.block_settings import BlockSettings
from schemas.policies.matching import Match
from schemas.policies.policies import Policies, Policy
from schemas.retrieval.blocks import Block, BlockQuery, Whose
from schemas.retrieval.searches import Filters, SaidHit
from tests.fakes.archive import FakeArchive
from tests.fakes.search import FakeSearch
from tests.fakes.windows import FakeWindows
from tests.unit.retrieval.conftest import MakeMemory

NOW = datetime(2026, 3, 2, 10, tzinfo=UTC)
POLICIES = Policies(
    (
        Policy(
            name="kitchen",
            match=Match(app_id="kitchen"),
            namespaces=("{app_id}/{user_id}",),
            block=BlockSettings(heading="Of {app_id} and {user_id}:", line="* {text}", closing="", max_memories=3),
        ),
        Policy(name="still", match=Match(app_id="still"), extract=False),
    )
)


class Stage:
    """A conversation of ada's in the kitchen, with what it takes to recall."""

    def __init__(self) -> None:
        self.searched, self.archive = FakeSearch(), FakeArchive()
        self.conversations = Conversations(FakeWindows(), self.archive, POLICIES)
        self.recall = Recall(self.searched, self.archive, POLICIES, lambda text: len(text.split()), lambda: NOW)

    async def conversation(self, name: str) -> Conversation | None:
        return await self.conversations.find(name, lambda namespace: True)

    async def block(self, **fields: Any) -> Block:
        query = BlockQuery(**fields)
        known = await self.conversation(query.conversation_id) if query.conversation_id else None
        return await self.recall.block(query, known)


@pytest.fixture
def stage() -> Stage:
    stage = Stage()
    stage.archive.say(
        "talk", ("user", "I moved to Ghent."), ("assistant", "How nice!"), app_id="kitchen", user_id="ada"
    )
    return stage


def source(number: int, conversation: str = "talk", second: int | None = None) -> Source:
    at = None if second is None else datetime.fromtimestamp(1_772_442_000 + second, UTC)
    return Source(conversation_id=conversation, message_id=f"{conversation}-{number}", timestamp=at)


async def test_a_block_has_memories_and_recent_messages_by_the_policy_of_the_conversation(
    stage: Stage, memory: MakeMemory
):
    stage.searched.memories = [memory(f"Ada likes {each}.") for each in ("tea", "rye", "figs", "jazz")]
    answer = await stage.block(conversation_id="talk", text="Where does she live?", filters=Filters(kinds=("fact",)))
    assert answer.text.split("\n") == [
        *("Of kitchen and ada:", "* Ada likes tea.", "* Ada likes rye.", "* Ada likes figs."),
        *("", "Said in this conversation, and not yet remembered:", "user: I moved to Ghent.", "assistant: How nice!"),
    ]
    assert (answer.namespaces, answer.policy, answer.conversation_known) == (("kitchen/ada",), "kitchen", True)
    (query,) = stage.searched.queries
    assert (query.namespaces, query.text, query.filters.kinds) == (("kitchen/ada",), "Where does she live?", ("fact",))
    assert query.limit > 3, "some of them may say only what is said anyway"


async def test_request_parameters_override_the_policy(stage: Stage, memory: MakeMemory):
    stage.searched.memories = [memory(f"Memory {number}.") for number in range(9)]
    answer = await stage.block(conversation_id="talk", max_memories=5, max_tokens=20, cite=True, tail=False)
    assert 1 < len(answer.memories) < 5 and answer.max_tokens == 20 and not answer.messages
    assert answer.text.split("\n")[1].endswith(f"[{answer.memories[0].reference}]")
    assert (await stage.block(conversation_id="talk", max_memories=0)).memories == ()
    assert len(stage.searched.queries) == 1, "nobody searches for none"


async def test_a_memory_of_only_recent_messages_is_omitted_from_the_block(stage: Stage, memory: MakeMemory):
    stage.searched.memories = [
        memory("User moved to Ghent.", sources=(source(1),)),
        memory("User lived in Bruges.", sources=(source(1, "another"),)),
        memory("User likes to move.", sources=(source(1), source(1, "another"))),
        memory("By hand."),
    ]
    answer = await stage.block(conversation_id="talk", max_memories=9)
    assert [each.text for each in answer.memories] == ["User lived in Bruges.", "User likes to move.", "By hand."]
    assert answer.memories_known == 1
    stage.archive.extracted = {(3, 1), (3, 2)}
    assert len((await stage.block(conversation_id="talk", max_memories=9)).memories) == 4


@pytest.mark.parametrize(
    "fields",
    [{"version": 2}, {"version": 3, "reinforcement_count": 1}, {"pinned": True}],
    ids=["edited", "both", "pinned"],
)
async def test_an_edited_or_pinned_memory_is_included_even_if_its_source_messages_are(
    stage: Stage, memory: MakeMemory, fields: dict[str, Any]
):
    stage.searched.memories = [memory("User moved to Antwerp.", sources=(source(1),), **fields)]
    assert len((await stage.block(conversation_id="talk")).memories) == 1
    stage.searched.memories = [
        memory("User moved to Ghent.", sources=(source(1), source(2)), version=2, reinforcement_count=1)
    ]
    assert (await stage.block(conversation_id="talk")).memories == ()


async def test_messages_known_to_the_caller_and_their_memories_are_omitted(stage: Stage, memory: MakeMemory):
    stage.searched.memories = [memory("User moved to Ghent.", sources=(source(1, second=1),))]
    answer = await stage.block(conversation_id="talk", known_messages=("talk-1",))
    assert (answer.memories, [each.message_id for each in answer.messages]) == ((), ["talk-2"])
    since = datetime.fromtimestamp(1_772_442_000, UTC)
    answer = await stage.block(conversation_id="talk", known_since=since + timedelta(seconds=1))
    assert (answer.text, answer.memories_known) == ("", 1)
    answer = await stage.block(conversation_id="talk", known_since=since + timedelta(seconds=2))
    assert (len(answer.memories), [each.message_id for each in answer.messages]) == (0, ["talk-1"])
    stage.archive.extracted = {(3, 1), (3, 2)}
    assert (await stage.block(conversation_id="talk", known_since=since)).text == "", "also once it is extracted"


async def test_extracted_messages_are_included_until_their_memories_are_searchable(stage: Stage):
    stage.archive.completed = {(3, 1): NOW - timedelta(seconds=6), (3, 2): NOW - timedelta(seconds=4)}
    answer = await stage.block(conversation_id="talk")
    assert [each.message_id for each in answer.messages] == ["talk-2"]


async def test_without_a_conversation_the_policy_is_found_by_the_namespace_name(stage: Stage, memory: MakeMemory):
    stage.searched.memories = [memory("Ada likes tea.")]
    stage.searched.degraded = ("vectors_failed",)
    answer = await stage.block(namespaces=("kitchen/ada", "kitchen/bob"))
    assert answer.text == "Of kitchen and ada:\n* Ada likes tea."
    assert (answer.policy, answer.degraded, answer.conversation_known) == ("kitchen", ("vectors_failed",), False)
    answer = await stage.block(namespaces=("elsewhere",), conversation_id="a-new-one")
    assert (answer.policy, answer.conversation_known, len(answer.memories)) == ("default", False, 1)


async def test_the_scope_of_an_unknown_conversation_determines_its_namespaces_and_policy(
    stage: Stage, memory: MakeMemory
):
    stage.searched.memories = [memory("Bob likes rye.")]
    scope = Whose(app_id="kitchen", user_id="bob")
    answer = await stage.block(conversation_id="a-new-one", scope=scope)
    assert (answer.text, answer.namespaces) == ("Of kitchen and bob:\n* Bob likes rye.", ("kitchen/bob",))
    answer = await stage.block(namespaces=("elsewhere",), scope=scope)
    assert (answer.policy, answer.namespaces) == ("kitchen", ("elsewhere",))


async def test_in_a_known_conversation_the_scope_chooses_the_user_and_nothing_else(stage: Stage, memory: MakeMemory):
    stage.archive.say("talk", ("user", "And I like rye."), app_id="kitchen", user_id="bob")
    stage.searched.memories = [memory("Bob likes rye.")]
    answer = await stage.block(conversation_id="talk", scope=Whose(app_id="still", user_id="bob"))
    assert answer.namespaces == ("kitchen/bob",)
    assert answer.text.startswith("Of kitchen and bob:\n* Bob likes rye.")
    answer = await stage.block(conversation_id="talk", scope=Whose(app_id="still"))
    assert (answer.namespaces, answer.policy) == (("kitchen/ada",), "kitchen")


async def test_recent_messages_of_anybody_but_the_user_of_the_scope_show_their_names(stage: Stage):
    answer = await stage.block(conversation_id="talk", scope=Whose(user_id="bob"))
    assert "user ada: I moved to Ghent." in answer.text
    answer = await stage.block(conversation_id="talk", scope=Whose(user_id="ada"))
    assert "user: I moved to Ghent." in answer.text


def passage_hit(text: str, number: int = 1, **fields: Any) -> SaidHit:
    given = {"conversation_id": "trip", "message_id": f"trip-{number}", "namespace": "kitchen/ada", "role": "user"}
    at = datetime.fromtimestamp(1_772_442_000 + number, UTC)
    passage = Passage(**given | {"passage_id": f"p{number}", "speaker": "ada", "said_at": at, "text": text} | fields)  # type: ignore[arg-type]
    return SaidHit(score=1.0, passage=passage, owners=("kitchen/ada",))


async def test_passages_are_included_within_the_limits_of_the_policy_and_the_request(stage: Stage):
    stage.searched.said = [passage_hit("We took the night train.", 1), passage_hit("It was late.", 2)]
    answer = await stage.block(conversation_id="talk", text="How did we travel?", asked_at=NOW - timedelta(days=1))
    assert [each.text for each in answer.said] == ["We took the night train.", "It was late."]
    (said_query,) = (query for query in stage.searched.queries if query.tier == "said")
    assert said_query.asked_at == NOW - timedelta(days=1)
    only = await stage.block(conversation_id="talk", text="How did we travel?", max_said=1)
    assert ([each.text for each in only.said], only.said_left_out) == (["We took the night train."], 0)


@pytest.mark.parametrize(
    "fields", [{}, {"text": " "}, {"text": "x", "max_said": 0}, {"text": "x", "filters": Filters(kinds=("fact",))}]
)
async def test_passages_are_not_searched_without_a_text_or_with_memory_filters(stage: Stage, fields: dict[str, Any]):
    stage.searched.said = [passage_hit("We took the night train.")]
    assert (await stage.block(conversation_id="talk", **fields)).said == ()
    assert {query.tier for query in stage.searched.queries} == {"memories"}


async def test_a_passage_known_to_the_caller_is_omitted(stage: Stage):
    stage.searched.said = [
        passage_hit("Known by its id.", 1, conversation_id="talk", message_id="talk-1"),
        passage_hit("Known by its time.", 5, conversation_id="talk", message_id="talk-9"),
        passage_hit("Of another conversation.", 6, message_id="talk-1"),
    ]
    since = datetime.fromtimestamp(1_772_442_000 + 4, UTC)
    known = {"known_messages": ("talk-1",), "known_since": since}
    answer = await stage.block(conversation_id="talk", text="x", tail=False, **known)
    assert [each.text for each in answer.said] == ["Of another conversation."]


async def test_a_neighbour_known_to_the_caller_is_omitted(stage: Stage):
    hit, other = (
        passage_hit("The soup.", 2, ordinal=1),
        passage_hit("Which dish?", 1, conversation_id="talk", message_id="talk-1"),
    )
    stage.searched.said = [replace(hit, neighbours=(other.passage,))]
    both = await stage.block(conversation_id="talk", text="x", tail=False)
    assert [each.text for each in both.said] == ["Which dish?", "The soup."]
    one = await stage.block(conversation_id="talk", text="x", tail=False, known_messages=("talk-1",))
    assert [each.text for each in one.said] == ["The soup."]


async def test_a_hit_joined_to_a_passage_known_to_the_caller_is_included(stage: Stage):
    soup = passage_hit("I made a soup.", 1)
    curry = passage_hit("And a curry.", 2, ordinal=1, conversation_id="talk", message_id="talk-1")
    stage.searched.said = [replace(curry, neighbours=(soup.passage,), joined=(soup,))]
    answer = await stage.block(conversation_id="talk", text="x", tail=False, known_messages=("talk-1",))
    assert [each.text for each in answer.said] == ["I made a soup."]


async def test_a_passage_is_included_only_if_the_caller_may_read_one_of_its_owners(stage: Stage):
    stage.searched.said = [passage_hit("We took the night train.")]
    query = BlockQuery(namespaces=("kitchen",), text="x")
    for namespace, count in (("kitchen/ada", 1), ("kitchen", 0)):
        answer = await stage.recall.block(query, None, namespace.__eq__)
        assert len(answer.said) == count


async def test_a_conversation_without_extraction_contributes_no_recent_messages(stage: Stage):
    stage.archive.say("quiet", ("user", "Hello."), app_id="still", user_id="ada")
    answer = await stage.block(conversation_id="quiet")
    assert (answer.text, answer.conversation_known) == ("", True)


async def test_a_query_without_namespaces_conversation_and_scope_raises_value_error(stage: Stage):
    with pytest.raises(ValueError, match="neither namespaces nor a known conversation nor a scope"):
        await stage.block(text="What?")


async def test_recent_messages_of_several_speakers_show_their_names(stage: Stage):
    stage.archive.say("talk", ("user", "I'm allergic to nuts."), app_id="kitchen", user_id="bob")
    block = await stage.block(conversation_id="talk")
    assert "user ada: I moved to Ghent." in block.text
    assert "user bob: I'm allergic to nuts." in block.text
    assert "\nassistant: How nice!" in block.text
