"""Memories in one language: prompts, retried texts and storage."""

import json

import msgspec
import pytest
from msgspec import structs

from agents.models.answers.candidates import check_drafts
from agents.models.answers.drafts import Draft
from agents.models.answers.summaries import estimated_tokens
from agents.models.model_provider import ModelProvider
from agents.models.offline.provider import OfflineProvider
from agents.models.one_language import is_wrong_language, language_written, translation_warning, writing_rule
from agents.models.prompts import compaction, resolving, shortening
from agents.models.prompts.extraction import STABLE, answer_schema, policy_part
from agents.models.prompts.questions import extraction_question
from schemas.conversations.messages import Scope
from schemas.extraction.requests import ExtractionRequest, Speaker
from schemas.policies.policies import DEFAULT_POLICY, Policies, Policy
from tests.builders.slices import BATCH, knowing, known, said, slice_of
from tests.fakes.calls import ScriptedCalls
from tests.servers.messages import MessagesServer
from tests.unit.models.claude.claude_asking import draft, provider_at

ENGLISH, GERMAN = Policy(name="english", one_language="en"), Policy(name="german", one_language="de-AT")
SAID = slice_of("Ich bin gegen Erdnüsse allergisch.", "Ich wohne in Turku.")


def answer(*drafts: dict[str, object]) -> str:
    return json.dumps({"memories": list(drafts)})


@pytest.mark.parametrize("language", ["", "german", "de_AT", "d", "de-", "<de>", 'de" or'])
def test_a_policy_with_an_invalid_language_tag_is_rejected(language: str) -> None:
    with pytest.raises(msgspec.ValidationError, match="one_language"):
        msgspec.convert({"name": "p", "one_language": language}, Policy)


def test_a_policy_without_one_language_adds_no_language_rule_to_the_prompt() -> None:
    assert "BCP 47" not in policy_part(DEFAULT_POLICY)
    assert writing_rule(DEFAULT_POLICY, "each text") == ""
    question = extraction_question(SAID, knowing())
    assert "BCP 47" not in question.repair


def test_every_prompt_that_writes_memories_names_the_language_in_its_cached_policy_part() -> None:
    memories, full = [known("User has a dog."), known("User has a cat.")], "Der Nutzer hat einen Hund und eine Katze."
    instruction = 'in the language "de-AT"'
    questions = (
        extraction_question(SAID, knowing(policy=GERMAN)),
        resolving.question([], memories, GERMAN, BATCH, estimated_tokens),
        compaction.question(memories, GERMAN, estimated_tokens),
        shortening.question(full, GERMAN, estimated_tokens),
    )
    assert all(instruction in each.policy and instruction not in each.stable + each.user_prompt for each in questions)


async def test_calls_with_the_same_policy_language_share_the_cached_prompt_part(server: MessagesServer) -> None:
    provider = provider_at(server)
    texts = (draft(text="User lives in Rome."), draft(text="User lives in Turku."))
    server.script(*(f"text:{answer(each)}" for each in texts))
    first = await provider.extract(slice_of("Ich wohne in Rom."), knowing(policy=ENGLISH))
    second = await provider.extract(slice_of("Ich wohne in Turku."), knowing(policy=ENGLISH))
    await provider.close()
    assert first.usage.cache_write_tokens > 0
    assert second.usage.cache_read_tokens == first.usage.cache_write_tokens


@pytest.mark.parametrize(
    ("text", "declared", "wanted", "stored"),
    [
        ("User is allergic to peanuts.", "de", "en", "en"),
        ("User is allergic to peanuts.", "en", "en-GB", "en-GB"),
        ("Der Nutzer ist gegen Erdnüsse allergisch.", "en", "en", "de"),
        ("Nutzer mag Sushi.", None, "en", "de"),
        ("User wohnt in Turku und hat einen Hund.", None, "en", "de"),
        ("Usuario: vive en Sevilla.", None, "de", "es"),
        ("User lives in Turku and has a dog.", None, "de", "en"),
        ("User likes Turku.", None, "de", "de"),
        ("用户住在柏林。", "zh", "en", "und"),
        ("ユーザーはベルリンに住んでいる。", "ja", "ja", "ja"),
        ("User lives in Berlin with two dogs.", "en", "ja", "en"),
        ("O utilizador mora em Lisboa.", "pt", "pt", "pt"),
        ("El usuario vive en Lisboa.", "pt", "pt", "es"),
    ],
)
def test_a_text_is_stored_with_the_language_detected_from_its_words(
    text: str, declared: str | None, wanted: str, stored: str
) -> None:
    policy = Policy(name="p", one_language=wanted)
    assert language_written(text, declared, policy) == stored
    assert is_wrong_language(text, declared, policy) == (stored != wanted)


@pytest.mark.parametrize(
    ("text", "declared", "stored"),
    [
        ("Der Nutzer ist gegen Erdnüsse allergisch.", None, "de"),
        ("User is allergic to peanuts and to cats.", None, "en"),
        ("User is allergic to peanuts and to cats.", "en-GB", "en-GB"),
        ("Rex.", None, None),
    ],
)
def test_without_one_language_the_models_language_is_used_or_else_detected(
    text: str, declared: str | None, stored: str | None
) -> None:
    assert language_written(text, declared, DEFAULT_POLICY) == stored


def test_the_schema_requires_a_language_if_the_policy_compares_memories_by_language() -> None:
    def required(policy: Policy) -> list[str]:
        schema = json.loads(json.dumps(answer_schema(policy)))
        return list(schema["properties"]["memories"]["items"]["required"])

    assert "language" not in required(DEFAULT_POLICY)
    assert all("language" in required(each) for each in (ENGLISH, Policy(name="p", resolve=True)))


async def test_a_memory_in_the_wrong_language_is_requested_once_more(server: MessagesServer) -> None:
    provider = provider_at(server)
    german = draft(text="Der Nutzer ist gegen Erdnüsse allergisch.", language="de")
    server.script(f"text:{answer(german)}", f"text:{answer(draft(language='de'))}")
    found = await provider.extract(SAID, knowing(policy=ENGLISH))
    await provider.close()
    assert [(each.text, each.language) for each in found.proposals] == [("User is allergic to peanuts.", "en")]
    assert len(server.seen) == 2
    assert 'in the language "en"' in json.dumps(server.seen[1]["messages"][-1], ensure_ascii=False).replace("\\", "")


async def test_a_memory_not_translated_at_the_second_attempt_is_kept_in_its_original_language() -> None:
    german = answer(draft(text="Der Nutzer ist gegen Erdnüsse allergisch.", language="en"))
    calls = ScriptedCalls(german, german)
    found = await ModelProvider(calls).extract(SAID, knowing(policy=ENGLISH))
    assert [(each.text[:10], each.language) for each in found.proposals] == [("Der Nutzer", "de")]
    assert found.rejected == {}


async def test_a_wrong_language_is_also_requested_again_for_slices_that_share_a_call() -> None:
    one, other = (
        structs.replace(SAID, request_id=name, scope=Scope(conversation_id=name, user_id="ada")) for name in "ab"
    )
    german = answer(draft(text="Der Nutzer wohnt in Turku.", messages=[2]))
    calls = ScriptedCalls(german, answer(draft(text="User lives in Turku.", messages=[2])))
    context = knowing(policy=ENGLISH)
    first, _ = await ModelProvider(calls).extract_together([(one, context), (other, context)])
    assert [each.text for each in first.proposals] == ["User lives in Turku."]
    assert len(calls.received) == 2


async def test_the_offline_provider_keeps_the_original_language() -> None:
    found = await OfflineProvider().extract(SAID, knowing(policy=ENGLISH))
    assert found.proposals
    assert {each.language for each in found.proposals} == {"de"}


def test_a_translated_memory_passes_the_same_checks_as_an_original_memory() -> None:
    """It cites its message, says nothing that must not be kept, and names who speaks."""
    speakers = (
        Speaker(user_id="ada", name="Ada", namespaces=("k/ada", "k")),
        Speaker(user_id="bob", namespaces=("k/bob", "k")),
    )
    messages = (
        structs.replace(said("Ich wohne in Turku, mein Passwort ist hunter2hunter2!", 1), user_id="ada"),
        structs.replace(said("Ich in Oulu.", 2), user_id="bob"),
    )
    request: ExtractionRequest = structs.replace(
        slice_of(*messages), speakers=speakers, namespaces=("k/ada", "k/bob", "k")
    )
    drafts = [
        Draft(kind="fact", text="User lives in Turku, the password is hunter2hunter2!", messages=[1], confidence=0.9),
        Draft(kind="fact", text="User lives in Oulu.", messages=[2], confidence=0.9),
        Draft(kind="fact", text="User lives in Rome.", messages=[9], confidence=0.9),
    ]
    found = check_drafts(drafts, request, knowing(policy=ENGLISH))
    assert [(each.namespaces, each.speaker_name, each.language) for each in found.proposals] == [
        (("k/ada", "k"), "Ada", "en"),
        (("k/bob", "k"), "bob", "en"),
    ]
    assert "hunter2" not in found.proposals[0].text
    assert found.rejected["provenance"] == 1


def test_the_prompt_keeps_the_word_user_for_a_language_without_rules() -> None:
    assert '"User"' in writing_rule(Policy(name="p", one_language="pt"), "text")
    assert '"User"' not in writing_rule(GERMAN, "text")
    assert "User" in STABLE


@pytest.mark.parametrize(
    ("policy", "text", "is_taken"),
    [
        (ENGLISH, "User has a dog and a cat, and is happy with them.", True),
        (DEFAULT_POLICY, "User has a dog and a cat, and is happy with them.", False),
        (ENGLISH, "Der Nutzer hat einen Hund und eine Katze.", True),
        (GERMAN, "L'utilisateur a un chien et un chat dans sa maison.", False),
    ],
)
def test_shortening_and_compaction_accept_a_translation_only_into_the_policy_language(
    policy: Policy, text: str, is_taken: bool
) -> None:
    full = "Der Nutzer hat einen Hund und eine Katze, und er ist mit ihnen sehr zufrieden."
    read = shortening.read(json.dumps({"short": text}), full, policy, estimated_tokens)
    assert (read == text) is is_taken
    step = {"action": "edit", "memory": 1, "absorbs": 2, "text": text, "reason": "two of one kind"}
    memories = [known(full, memory_id="a"), known("Der Nutzer ist jetzt auch auf eine Katze gekommen.", memory_id="b")]
    assert (compaction.read(json.dumps(step), memories, policy, estimated_tokens) is not None) is is_taken


def test_a_warning_is_returned_if_a_provider_cannot_translate_to_the_policy_language() -> None:
    policies = Policies((ENGLISH, DEFAULT_POLICY))
    warning = translation_warning(policies, ["claude", "offline"])
    assert warning is not None and "'english'" in warning
    assert translation_warning(policies, ["claude", "ollama"]) is None
    assert translation_warning(Policies((DEFAULT_POLICY,)), ["offline"]) is None
