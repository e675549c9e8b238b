"""Statements of the assistant or a tool: stored as theirs, and only about facts, never about a person."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain
from typing import Final

from agents.models.answers.drafts import Draft
from agents.models.answers.persons import is_of_person, speaker_names
from agents.models.answers.texts import UnusableText
from agents.models.dates.words import MONTHS, NUMBERS, WEEKDAYS
from agents.models.offline.rules.engine.injection import is_injection
from agents.models.port import Context
from schemas.extraction.requests import ExtractionRequest, SliceMessage
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy

MAX_CONFIDENCE: Final = 0.8  # the highest confidence of such a statement: no user said it
EXPERIENCE: Final = "experience"  # the kind of a task with its outcome, from the words of both
CACHED: Final = (
    1_024  # texts of messages, as each draft of an answer is compared with them; `for_one_answer` frees them
)
MIN_LETTERS: Final = 3  # letters of a word that counts as content, and of a beginning that two words share
STEM_LETTERS: Final = 4
WORD: Final = re.compile(r"[^\W_]+(?:[.,:/-]\d+)*")
# Sentences begin with capitals, so their first words are no names.
NAME: Final = re.compile(r"(?<![.!?:] )(?<!^)(?<![\w'’])[^\W\d_a-zß-öø-ÿ]\w{2,}")
MONTH: Final = "|".join(" ".join(MONTHS.values()).split())
WEEKDAY: Final = "|".join(" ".join(WEEKDAYS.values()).split())
ISO_DATE: Final = re.compile(r"\b\d{4}(?:-\d{2}){1,2}\b")
DATE: Final = re.compile(  # also a month with its day and year, a weekday, and a time of day
    rf"{ISO_DATE.pattern}|\b\d{{1,2}}:\d{{2}}\b|\b(?:\d{{1,2}}(?:\.|st|nd|rd|th|er)?,? (?:de |of )?)?(?:{MONTH})\b"
    rf"(?: \d{{1,2}}(?!\d)(?:st|nd|rd|th)?)?(?:,? (?:de )?\d{{4}})?|\b(?:{WEEKDAY})\b",
    re.IGNORECASE,
)
SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s|\n")
NUMERAL: Final = re.compile(
    "|".join(" ".join(NUMBERS.values()).split())
    + r"|twice|thrice|both|half|quarter|dozen|beide[ns]?|halb\w*|moitié|ambos|mitad|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundreds?|thousands?|millions?|\w+zehn|\w+(?:zig|ßig)|hundert|tausend"
    r"|millionen?|vingt|trente|quarante|cinquante|soixante|cents?|mille|veint\w+|\w+enta|cien\w*|mil"
)
EMPTY: Final = re.compile(  # words without content
    r"users?|the|and|for|with|ha[sd]|have|was|were|that|this|said|says|from|about|der|die|das|den|dem|des|(?:be)?nutzer(?:s|in)?|und|mit"
    r"|von|hat|ist|sagt|utilisateur|utilisatrice|les|une|est|avec|pour|dit|usuari[oa]|los|las|con|por|para|dice"
)
ASKS: Final = re.compile(  # words of a question or request, and pronouns: the speaker says nothing with them
    r"guess|where|what|which|when|who|whom|whose|how|why|you|your|know|ich|bin|mein(?:e[mnrs]?)?|sie|ihr|wer|was|wie|wann|warum"
    r"|welche[mnrs]?|hier|here|mon|mes|suis|vous|quel(?:le)?s?|quand|comment|soy|estoy|usted|dónde|quién|cuándo|cómo|qué"
)
# Words of a reply that takes up what the assistant said: assent, choice, reference, or a statement about oneself.
TAKES_UP: Final = re.compile(
    r"\b(?:yes|yep|yeah|yup|absolutely|definitely|sure|right|exactly|correct|true|ok|okay|agreed|deal|perfect|great|fine|please|good|do|go|take|let['’]?s"
    r"|option|first|second|third|last|former|latter|both|one|it|that|this|these|those|them|there|i|i['’]m|my|me|we|our|no|not"
    r"|ja|genau|perfekt|super|stimmt|richtig|gerne?|einverstanden|passt|klar|nein|nicht|das|die|den|es|dort|ich|mein\w*|wir|unser\w*"
    r"|oui|absolument|exact\w*|d['’]accord|parfait|ça|cela|celui|celle|je|j['’]\w+|mon|ma|mes|nous|notre|non|pas"
    r"|sí|si|claro|correcto|vale|perfecto|perfectamente|eso|esto|ese|esa|yo|mi|mis|me|soy|estoy|tengo|nosotros|nuestr\w+)\b",
    re.IGNORECASE,
)


def supporting_messages(
    draft: Draft, cited: Sequence[SliceMessage], request: ExtractionRequest, context: Context
) -> list[SliceMessage]:
    """The messages that a draft is based on: a user's words, with what they answer, or those of the assistant and of tools alone.
    System messages support nothing.

    What the text has from other messages alone is not the user's, cited or not, although a user's message is cited. Messages of
    the assistant or a tool that address a model support nothing. Raises UnusableText: `provenance` without a
    supporting message, `instruction` if the text has something from a message that addresses a model.
    """
    policy = context.policy
    of_users = [each for each in cited if each.role == "user"]
    others = [each for each in cited if each.role in ("assistant", "tool")]
    if not of_users:
        check_attributed(draft, cited, request, policy)
        return others
    if policy.note:  # about the whole conversation, and says whose claim each is
        return [each for each in cited if each.role == "user" or (each in others and not is_injection(each.content))]
    sound = [each for each in cited if not (each in others and is_injection(each.content))]
    texts = filter(None, (draft.text, draft.context, draft.full_text))
    if len(sound) < len(cited) and any(is_of_others(text, cited, request) for text in texts):
        raise UnusableText("instruction")
    if draft.kind == EXPERIENCE:
        return [each for each in sound if each.role != "system"]
    told = tellers(draft.text, sound, request, context.related)
    is_theirs = is_of_others(draft.text, sound, request) and not is_in_other_words(draft.text, sound, request)
    if not told and not is_theirs:
        return [each for each in sound if each.role != "system"]
    others = [each for each in request.messages if each in others or each in told]
    check_attributed(draft, others, request, policy)
    return others


def check_attributed(draft: Draft, sources: Sequence[SliceMessage], request: ExtractionRequest, policy: Policy) -> None:
    """Checks a statement of the assistant or a tool, under a policy that stores these.

    Raises UnusableText: `provenance` for a statement about a person or an unwanted one, `instruction` if one of the messages
    addresses a model.
    """
    if not sources or not policy.attributed or any(source.role == "system" for source in sources):
        raise UnusableText("provenance")
    if any(is_injection(source.content) for source in sources):
        raise UnusableText("instruction")
    names = speaker_names(request)
    if any(is_of_person(text, names) for text in (draft.text, draft.context, draft.full_text) if text):
        raise UnusableText("provenance")


def is_of_others(text: str, cited: Sequence[SliceMessage], request: ExtractionRequest) -> bool:
    """Whether a text has a name or figure, or all of its content, from cited messages of others than users."""
    theirs = words(each.content for each in cited if each.role != "user")
    own = words(each.content for each in users_words(cited, request))
    if any(each in theirs and not is_among(each, own) for each in named_in(text, cited, ISO_DATE)):
        return True
    content = content_words(text)
    return not any(is_among(each, own) for each in content) and not content.isdisjoint(theirs)


def tellers(
    text: str, cited: Sequence[SliceMessage], request: ExtractionRequest, known: Collection[Memory]
) -> list[SliceMessage]:
    """The messages of the assistant and of tools that are not cited, but alone state a name or figure of the text. No users and
    no memories of theirs (`known`) have it, in any spelling, and no question to a user."""
    cited_ids = {each.message_id for each in cited}
    said = [each for each in (*request.overlap, *request.messages) if each.message_id not in cited_ids]
    others = {each.message_id: stated_words(each.content) for each in said if each.role in ("assistant", "tool")}
    theirs = named_in(text, cited, DATE).intersection(chain.from_iterable(others.values()))
    if not theirs:
        return []
    own = words(each.content for each in (*users_words(cited, request), *cited))
    own |= words((*(memory.text for memory in known if memory.attributed_to is None), *speaker_names(request)))
    theirs = {each for each in theirs if not is_among(each, own)}
    if has_numeral(words(each.content for each in cited if each.role == "user") - words([text]), cited):
        theirs = {each for each in theirs if not has_digit(each)}
    if theirs and is_in_other_words(text, cited, request):
        theirs = set(filter(has_digit, theirs))
    return [each for each in said if not theirs.isdisjoint(others.get(each.message_id, frozenset()))]


@lru_cache(maxsize=CACHED)
def stated_words(content: str) -> frozenset[str]:
    """The words of the sentences that are no questions: what a user answers is the user's."""
    return words_in(" ".join(each for each in SENTENCE_END.split(content) if not each.rstrip().endswith("?")))


def has_numeral(said: Collection[str], cited: Sequence[SliceMessage]) -> bool:
    """Whether users state a number with one of these words: "60k" for "60,000", "two"."""
    return not only_questions(cited) and any(has_digit(each) or NUMERAL.fullmatch(each) for each in said)


def is_in_other_words(text: str, cited: Sequence[SliceMessage], request: ExtractionRequest) -> bool:
    """Whether a text says what the user said, with a name or figure as the others spell it: "2" for "two", "München" for
    "munich".

    At least half of its content is then the user's, who also has a word or figure that the text lacks.
    """
    own = words(each.content for each in users_words(cited, request))
    content, said = content_words(text), words(each.content for each in cited if each.role == "user")
    lacking = {
        each
        for each in said - words([text])
        if (has_digit(each) or len(each) >= MIN_LETTERS) and not (EMPTY.fullmatch(each) or ASKS.fullmatch(each))
    }
    half_is_own = 0 < len(content) <= 2 * sum(is_among(each, own) for each in content)
    return half_is_own and not only_questions(cited) and any(not is_among(each, content) for each in lacking)


def named_in(text: str, cited: Sequence[SliceMessage], dates: re.Pattern[str]) -> set[str]:
    """The names and figures of a text, without dates unless users only ask: a user's "tomorrow" becomes a date."""
    if not only_questions(cited):
        text = dates.sub(" … ", text)
    figures = (word for word in WORD.findall(text) if has_digit(word))
    named = {each.casefold() for each in (*NAME.findall(text), *figures)}
    return {each for each in named if not EMPTY.fullmatch(each)}


def content_words(text: str) -> set[str]:
    return {
        each for each in words([text]) if len(each) >= MIN_LETTERS and not (has_digit(each) or EMPTY.fullmatch(each))
    }


def users_words(cited: Sequence[SliceMessage], request: ExtractionRequest) -> list[SliceMessage]:
    """The users' messages of the slice and before it, and those of the assistant that a cited reply takes up."""
    said = [*request.overlap, *request.messages]
    found = [each for each in said if each.role == "user"]
    replies = {each.message_id for each in cited if each.role == "user"}
    before: SliceMessage | None = None
    for each in said:
        if before is not None and each.message_id in replies and takes_up(each, before):
            found.append(before)
        before = None if each.role == "user" else each if each.role == "assistant" else before
    return found


def takes_up(reply: SliceMessage, before: SliceMessage) -> bool:
    """Whether a reply makes the assistant's words the user's: "Yes", "The second one", or an answer to a question."""
    return not is_injection(before.content) and ("?" in before.content or TAKES_UP.search(reply.content) is not None)


def only_questions(cited: Sequence[SliceMessage]) -> bool:
    return all(each.content.rstrip().endswith("?") for each in cited if each.role == "user")


def words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in words_in(text)}


@lru_cache(maxsize=CACHED)
def words_in(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in WORD.findall(text))


@contextmanager
def for_one_answer() -> Iterator[None]:
    """Frees the words of an answer's messages at the end. They take megabytes, and may be erased later."""
    try:
        yield
    finally:
        words_in.cache_clear()
        stated_words.cache_clear()


def has_digit(word: str) -> bool:
    return any(letter.isdigit() for letter in word)


def is_among(word: str, own: set[str]) -> bool:
    """Whether the user has the word, in any ending: "jog" and "jogging"."""
    if word in own or has_digit(word):
        return word in own
    return any(
        word[: max(MIN_LETTERS, min(STEM_LETTERS, len(each)))] == each[: max(MIN_LETTERS, min(STEM_LETTERS, len(word)))]
        for each in own
        if len(each) >= MIN_LETTERS and not has_digit(each)
    )
