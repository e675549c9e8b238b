"""Length limits of a memory's texts, and content that no text may have."""

import re
from typing import Final

from agents.models.answers.summaries import cut_with_ellipsis
from agents.models.offline.rules.engine.injection import is_injection
from agents.privacy.scrub import storable
from schemas.policies.policies import Policy, Privacy
from streams.windows.tokens.counting import TokenCount

SHORT_TOKENS: Final = 500  # the most tokens of a short text, whatever number of characters the policy allows
FULL_TOKENS: Final = 4_000
FULL_CHARS: Final = 40_000  # the limit of an event's text
CONTEXT_CHARS: Final = 1_000
# A text longer than this many times the limit is rejected instead of cut.
MAX_LENGTH_FACTOR: Final = 10
WHITESPACE: Final = re.compile(r"\s+")
PUNCTUATION: Final = re.compile(r"[\W_]+", re.UNICODE)
MIN_CHARS_BESIDES_SECRETS: Final = 10
PLACEHOLDERS: Final = re.compile(r"\[[A-Z_]+\]")


class UnusableText(Exception):
    """A text or a draft fails a check. The argument is the reason, one stable word."""


def one_line(text: str) -> str:
    """The text on one line. Raises UnusableText `empty` if it has only punctuation."""
    line = WHITESPACE.sub(" ", text).strip()
    if not PUNCTUATION.sub("", line):
        raise UnusableText("empty")
    return line


def without_secrets(text: str, privacy: Privacy) -> str:
    """The text with secrets replaced by placeholders. Raises UnusableText `secret` if little else is left."""
    scrubbed = storable(text, privacy)
    # Searches for placeholders: the provider's input was scrubbed already.
    if (
        PLACEHOLDERS.search(scrubbed)
        and len(PUNCTUATION.sub("", PLACEHOLDERS.sub("", scrubbed))) < MIN_CHARS_BESIDES_SECRETS
    ):
        raise UnusableText("secret")
    return scrubbed


def truncated(text: str, max_chars: int, max_tokens: int, count_tokens: TokenCount) -> str:
    """The text if it fits, otherwise its beginning up to a word, with `…`."""
    if len(text) <= max_chars and fits(text, max_tokens, count_tokens):
        return text
    return cut_with_ellipsis(text[:max_chars], max_tokens, count_tokens)


def fits(text: str, max_tokens: int, count_tokens: TokenCount) -> bool:
    # A token has at least one byte, so most texts need no counting.
    return len(text.encode(errors="surrogatepass")) <= max_tokens or count_tokens(text) <= max_tokens


def checked_text(text: str, policy: Policy, count_tokens: TokenCount) -> str:
    """The short text of a model on one line, without secrets.

    Raises UnusableText: `empty`, `length`, `secret` (little text besides a credential), `instruction` (addresses a model).
    """
    line = without_secrets(one_line(text), policy.privacy)
    if len(line) > policy.max_text_chars or not fits(line, SHORT_TOKENS, count_tokens):
        raise UnusableText("length")
    if is_injection(line):
        raise UnusableText("instruction")
    return line
