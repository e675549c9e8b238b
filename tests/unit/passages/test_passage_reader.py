"""Passages known to be clean are not scrubbed again, and no private data is shown."""

from collections.abc import Iterator
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from agents.passages import passage_reader
from agents.passages.chunking import digest, privacy_mark, searchable_text
from agents.passages.passage_reader import readable
from schemas.conversations.messages import Scope
from schemas.passages.passages import Passage
from schemas.policies.policies import Policies, Policy, Privacy
from sinks.passages.store import PassageText

LONG = "We talked about plums and ovens. " * 300
OPEN = Policies((Policy(name="kitchen"),))
STRICT = Policies((Policy(name="kitchen", privacy=Privacy(scrub=("email",))),))


@pytest.fixture(autouse=True)
def spent(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """Counts the scrubbed characters."""
    counted = SimpleNamespace(chars=0)

    def scrub(text: str, privacy: Privacy) -> str:
        counted.chars += len(text)
        return searchable_text(text, privacy)

    monkeypatch.setattr(passage_reader, "searchable_text", scrub)
    yield counted


def found(content: str, *, clean_under: int | None, name: str | None = None) -> PassageText:
    passage = Passage(
        passage_id="p",
        namespace="kitchen/ada",
        conversation_id="c",
        message_id="m",
        role="user",
        speaker="ada",
        name=name,
        said_at=datetime(2026, 3, 2, tzinfo=UTC),
        text=content,
    )
    scope = Scope(conversation_id="c", app_id="kitchen", user_id="ada")
    return PassageText(
        passage=passage, scope=scope, namespaces=("kitchen/ada",), digest=digest(content), clean_under=clean_under
    )


def test_a_message_known_to_be_clean_is_not_scrubbed_again(spent: SimpleNamespace) -> None:
    shown = readable(found(LONG, clean_under=privacy_mark(Privacy())), OPEN)
    assert shown is not None and shown.text.startswith("We talked")
    assert spent.chars == 0


def test_a_message_clean_under_other_privacy_settings_is_scrubbed(spent: SimpleNamespace) -> None:
    assert readable(found("Write to ada@example.org.", clean_under=privacy_mark(Privacy())), STRICT) is None
    assert spent.chars > 0


def test_a_message_of_unknown_cleanness_is_scrubbed_before_it_is_shown() -> None:
    assert readable(found("The password is hunter2Xy9!", clean_under=None), OPEN) is None


def test_a_speaker_name_is_scrubbed() -> None:
    shown = readable(found("Bring plums.", clean_under=None, name="ada@example.org"), STRICT)
    assert shown is not None and shown.name == "[EMAIL]"
