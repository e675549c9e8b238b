"""Public conversations and memories without credentials are unchanged by scrubbing."""

import json
from collections.abc import Iterator

import pytest

from agents.privacy.scrub import scrub
from tests import public_data


def texts(document: object) -> Iterator[str]:
    """Every string of a JSON document, names of fields apart."""
    if isinstance(document, str):
        yield document
    elif isinstance(document, dict | list):
        for part in document.values() if isinstance(document, dict) else document:
            yield from texts(part)


@pytest.mark.parametrize("language", ["en", "cn"])
def test_public_conversations_without_credentials_are_unchanged(language: str) -> None:
    people = json.loads(public_data.required("memorybank", f"memory_bank_{language}.json").read_text())
    every = list(texts(people))
    assert len(every) > 500
    assert [text for text in every if scrub(text).text != text] == []
