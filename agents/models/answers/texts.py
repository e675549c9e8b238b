"""The lengths of a memory's texts, and what no text of a memory may hold, whoever wrote it."""

import re
from typing import Final

from agents.models.answers.summaries import broken_off
from agents.models.offline.rules.injection import is_injection
from agents.privacy.scrub import storable
from schemas.policies.policies import Policy, Privacy
from streams.windows.tokens.counting import TokenCount

SHORT_TOKENS: Final = 500  # of a short text at most, whatever number of characters a policy allows
FULL_TOKENS: Final = 4_000
FULL_CHARS: Final = 40_000  # what an event may carry
CONTEXT_CHARS: Final = 1_000
# A text this many times too long is not a memory that ran over but something else.
HOPELESSLY_LONG: Final = 10
BLANK: Final = re.compile(r"\s+")
MARKS: Final = re.compile(r"[\W_]+", re.UNICODE)
PLACEHOLDERS: Final = re.compile(r"\[[A-Z_]+\]")


class UnusableText(Exception):
    """A text, or a draft that has it, fails a check; its argument is the reason, a short stable word."""


def one_line(text: str) -> str:
    """Raises Unfit `empty` when there is nothing but marks."""
    line = BLANK.sub(" ", text).strip()
    if not MARKS.sub("", line):
        raise UnusableText("empty")
    return line


def without_secrets(text: str, privacy: Privacy) -> str:
    """Raises Unfit `secret` for a text that is little more than its secret."""
    scrubbed = storable(text, privacy)
    # Looked for by its placeholder: what a provider read was scrubbed before.
    if PLACEHOLDERS.search(scrubbed) and len(MARKS.sub("", PLACEHOLDERS.sub("", scrubbed))) < len("userskeyis"):
        raise UnusableText("secret")
    return scrubbed


def cut(text: str, most_chars: int, most_tokens: int, count_tokens: TokenCount) -> str:
    """The text itself where it fits, else its beginning, which ends after a word and says so by `…`."""
    if len(text) <= most_chars and fits(text, most_tokens, count_tokens):
        return text
    return broken_off(text[:most_chars], most_tokens, count_tokens)


def fits(text: str, most_tokens: int, count_tokens: TokenCount) -> bool:
    # A token is a byte at least, so that most texts need not be counted.
    return len(text.encode(errors="surrogatepass")) <= most_tokens or count_tokens(text) <= most_tokens


def new_text(text: str, policy: Policy, count_tokens: TokenCount) -> str:
    """A short text that a model wrote about memories, as it may be stored.

    Raises Unfit: `empty`, `length`, `secret`, or `instruction` for one that addresses a model or the memory.
    """
    line = without_secrets(one_line(text), policy.privacy)
    if len(line) > policy.max_text_chars or not fits(line, SHORT_TOKENS, count_tokens):
        raise UnusableText("length")
    if is_injection(line):
        raise UnusableText("instruction")
    return line
