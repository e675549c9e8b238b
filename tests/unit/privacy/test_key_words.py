"""Texts without a word that names a secret skip the patterns of named secrets, and no match is lost by it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.privacy import scrub as module
from agents.privacy.passwords import CERTAIN, CERTAIN_WORDS, NAME_WORDS, NAMES
from agents.privacy.scrub import Scrubbed, scrub
from agents.privacy.secrets import KEY_WORDS, KEYS, SHAPE_WORDS, SHAPES, WORDLESS_SHAPES

# Characters that IGNORECASE takes for an ASCII letter.
LOOKALIKES = str.maketrans({"k": "K", "s": "ſ", "i": "ı", "I": "İ", "о": "ᲂ"})
KEYS_LISTED = (
    "api_key|API token|api-secret|api schlüssel|clé d'api|clé api|secret|secret key|access key|license_key|auth token"
    "|refresh token|bot-token|private key|client secret|webhook_secret|token|credential|credentials|key|schlüssel|clave|clé"
)
NAMES_LISTED = (
    "password|passwd|passphrase|passcode|passwort|kennwort|wachtwoord|contraseña|lösenord|adgangskode|salasana|пароль|паролем"
    "|パスワード|密码|密碼|口令|비밀번호|암호|كلمة المرور|mot de passe|dbPass|dbPwd|wpa2 key|wi-fi key|wlan key|network-key"
    "|pw|pwd|psw|psk|pass|mdp|clave|senha|hasło|haslo|heslo|şifre|şifrem|parola"
)
LINKS = (": ", " is ", "=", " ", " for the router is ")
VALUES = (
    "q7EXAMPLEz9notK3realX5",
    "EXAMPLE-no1",
    '"EXAMPLE notreal 00"',
    "wrong",
    "550e8400-e29b-41d4-a716-446655440000",
)


SHAPED = [pattern for kind, pattern in SHAPES if (kind, pattern) not in WORDLESS_SHAPES]
WITH_WORDS = [*((each, SHAPE_WORDS) for each in SHAPED), *((each, CERTAIN_WORDS) for each in CERTAIN)]
CASES = [(KEYS, KEYS_LISTED, KEY_WORDS), (NAMES, NAMES_LISTED, NAME_WORDS)]


def spellings(name: str) -> set[str]:
    return {name, name.upper(), name.title(), name.translate(LOOKALIKES), name.upper().translate(LOOKALIKES)}


def generated(pattern: str) -> st.SearchStrategy[str]:
    """Names that the pattern matches, in letters of any kind."""
    return st.from_regex(re.compile(pattern, re.IGNORECASE), fullmatch=True).flatmap(
        lambda name: st.sampled_from(sorted(spellings(name)))
    )


def matched_by(pattern: re.Pattern[str]) -> st.SearchStrategy[str]:
    """Texts that the pattern matches, in letters of any kind if it ignores case."""
    found = st.from_regex(pattern, fullmatch=True)
    return found.flatmap(
        lambda text: st.sampled_from([each for each in sorted(spellings(text)) if pattern.fullmatch(each)])
    )


def plainly_scrubbed(text: str) -> Scrubbed:
    with pytest.MonkeyPatch.context() as changed:
        for words in ("SHAPE_WORDS", "CERTAIN_WORDS", "KEY_WORDS", "NAME_WORDS"):
            changed.setattr(module, words, ("",))  # in every text
        return scrub(text)


@pytest.mark.parametrize(("pattern", "listed", "words"), CASES, ids=["keys", "passwords"])
def test_every_listed_name_has_one_of_the_words(pattern: str, listed: str, words: tuple[str, ...]):
    for name in listed.split("|"):
        assert re.search(pattern, name, re.IGNORECASE), f"{name} is no name"
        matched = [each for each in spellings(name) if re.search(pattern, each, re.IGNORECASE)]
        assert [each for each in matched if not any(word in each.casefold() for word in words)] == []


@given(st.sampled_from(WITH_WORDS).flatmap(lambda case: st.tuples(matched_by(case[0]), st.just(case[1]))))
def test_every_match_of_a_secret_of_known_shape_has_one_of_the_words(case: tuple[str, tuple[str, ...]]):
    secret, words = case
    assert any(word in secret.casefold() for word in words)


@given(st.one_of(st.sampled_from([pattern for pattern, _ in WITH_WORDS]).flatmap(matched_by), st.text()))
def test_a_secret_of_known_shape_is_scrubbed_as_if_the_patterns_always_ran(secret: str):
    text = f"That is {secret}\nthanks"
    assert scrub(text) == plainly_scrubbed(text)


@given(st.one_of(generated(KEYS), generated(NAMES), st.text()), st.sampled_from(LINKS), st.sampled_from(VALUES))
def test_a_text_is_scrubbed_as_if_the_patterns_always_ran(name: str, link: str, value: str):
    text = f"my {name}{link}{value}, thanks"
    assert scrub(text) == plainly_scrubbed(text)
