"""What rules read of a message: its beginning, in a language they know, sentence by sentence, without secrets."""

from collections.abc import Iterator

from agents.models.offline.rules.english import ENGLISH
from agents.models.offline.rules.french import FRENCH
from agents.models.offline.rules.german import GERMAN
from agents.models.offline.rules.languages import PLACEHOLDER, language_of
from agents.models.offline.rules.rule import Tongue
from agents.models.offline.rules.sentences import sentences
from agents.models.offline.rules.spanish import SPANISH
from agents.privacy.scrub import scrub

TONGUES = {tongue.code: tongue for tongue in (ENGLISH, GERMAN, FRENCH, SPANISH)}
# Some 3,500 words: nobody types that much in one message, so what is longer is pasted behind the sender's own words.
LONGEST_READ_CHARS = 20_000
ENDINGS = ("\n", ". ", "! ", "? ")


def beginning(content: str) -> str:
    """As much of a message as is read, without a last sentence that the bound would cut: half of one may say the opposite."""
    if len(content) <= LONGEST_READ_CHARS:
        return content
    return content[: max(content.rfind(ending, 0, LONGEST_READ_CHARS) for ending in ENDINGS) + 1]


def tongue_of(content: str, hint: str | None) -> Tongue | None:
    language = language_of(content, hint)
    return TONGUES.get(language) if language else None


def safe_sentences(content: str) -> Iterator[str]:
    """Sentences without those that hold or held a secret: what is said around a credential is about it."""
    scrubbed = scrub(content)
    for sentence in sentences(scrubbed.text):
        if not PLACEHOLDER.search(sentence):
            yield sentence
