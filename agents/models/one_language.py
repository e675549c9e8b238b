"""The language of a policy's memories: the instruction for models, and checks whether a text is in it."""

from collections.abc import Iterable
from typing import Final

from agents.models.offline.rules.engine.languages import (
    MIN_KNOWN_WORDS,
    PLACEHOLDER,
    STOP_WORDS,
    SUPPORTED,
    WORD,
    best_languages,
    is_another_language,
    mostly_latin,
)
from schemas.policies.policies import Policies, Policy

# The language of a memory's text, by its word for the user.
WORDS_FOR_USER: Final = {
    **dict.fromkeys(("nutzer", "nutzers", "nutzerin", "benutzer", "benutzers", "benutzerin"), "de"),
    **dict.fromkeys(("utilisateur", "utilisatrice"), "fr"),
    **dict.fromkeys(("usuario", "usuaria"), "es"),
    **dict.fromkeys(("utente", "utenti"), "it"),
    **dict.fromkeys(("usuário", "usuária", "utilizador", "utilizadora"), "pt"),
    "gebruiker": "nl",
    "användaren": "sv",
    **dict.fromkeys(("użytkownik", "użytkowniczka"), "pl"),
    "utilizatorul": "ro",
    "kullanıcı": "tr",
}
SUBJECT_WORDS: Final = 3  # words from the beginning of the text
UNDETERMINED: Final = "und"  # BCP 47: undetermined


def primary_subtag(language: str) -> str:
    """The primary subtag: `de` of `de-AT`."""
    return language.partition("-")[0].lower()


def writing_rule(policy: Policy, what: str) -> str:
    """The instruction for a model about the language of `what` it writes; empty if the policy has no language."""
    if policy.one_language is None:
        return ""
    # Checks know the words for the user in languages with rules; in other languages only "User".
    called = "" if primary_subtag(policy.one_language) in SUPPORTED else ' Call the user "User" there too.'
    return (
        f'Write {what} in the language "{policy.one_language}" (BCP 47), whatever language was spoken: translate, and keep '
        f"names, numbers and wording that matters as such.{called}"
    )


def is_wrong_language(text: str, declared: str | None, policy: Policy) -> bool:
    """Whether a text is clearly not in the policy's language: by its words, otherwise by the language that the model
    `declared`. False if the policy has no language."""
    return language_written(text, declared, policy) != policy.one_language if policy.one_language else False


def is_unwanted_language(text: str, source: str, policy: Policy) -> bool:
    """Whether a model's text is clearly in neither the language of its `source` text nor the policy's."""
    if not is_another_language(text, source):
        return False
    return policy.one_language is None or is_wrong_language(text, policy.one_language, policy)


def language_written(text: str, declared: str | None, policy: Policy) -> str | None:
    """The language to store with a text: `declared`, otherwise the language of its words. Under a policy with one language
    its words decide, and the policy's language in doubt."""
    wanted = policy.one_language
    if wanted is None:
        return declared or detected_language(text)
    detected = language_by_words(text, primary_subtag(wanted))
    if detected is None and primary_subtag(wanted) not in STOP_WORDS:
        detected = primary_subtag(declared) if declared else None
    return wanted if detected in (None, primary_subtag(wanted)) else detected


def detected_language(text: str) -> str | None:
    """The only language in which several words of the text are known; None if there is no such language."""
    leading, known = best_languages([word.lower() for word in WORD.findall(PLACEHOLDER.sub("", text))])
    return leading[0] if len(leading) == 1 and known >= MIN_KNOWN_WORDS else None


def language_by_words(text: str, wanted: str) -> str | None:
    """The language of the text's words: `wanted`, or another one if that is clear; None in doubt."""
    words = [word.lower() for word in WORD.findall(PLACEHOLDER.sub("", text))]
    subject = next((WORDS_FOR_USER[word] for word in words[:SUBJECT_WORDS] if word in WORDS_FOR_USER), None)
    if subject is not None:
        return subject
    if not words or wanted not in STOP_WORDS:
        return None
    if not mostly_latin(words):
        return UNDETERMINED
    leading, known = best_languages(words)
    return leading[0] if known >= MIN_KNOWN_WORDS and wanted not in leading else None


def translation_warning(policies: Policies, providers: Iterable[str]) -> str | None:
    """A warning if policies have one language but the offline provider may answer: it cannot translate."""
    named = [repr(policy.name) for policy in policies.listed if policy.one_language and policy.extract]
    if not named or "offline" not in providers:
        return None
    return (
        f"one_language of {', '.join(named)} needs a model: the provider offline keeps memories in the language in which they "
        "were said"
    )
