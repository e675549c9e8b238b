"""Statements of the assistant or a tool: stored as theirs, and only about facts, never about a person."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain
from typing import Final

from agents.models.answers.drafts import Draft
from agents.models.answers.persons import is_about_person, speaker_names
from agents.models.answers.texts import UnusableText
from agents.models.dates.words import MONTHS, NUMBERS, WEEKDAYS
from agents.models.offline.rules.engine.injection import is_injection
from agents.models.port import Context
from schemas.extraction.requests import ExtractionRequest, SliceMessage
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy

MAX_CONFIDENCE: Final = 0.8  # the highest confidence of such a statement: no user said it
EXPERIENCE: Final = "experience"  # the kind of a task with its outcome, from the words of both
CACHE_SIZE: Final = 1_024  # texts of messages: each draft of an answer is compared with all of them
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
STOP_WORDS: Final = re.compile(  # words without content
    r"users?|the|and|for|with|ha[sd]|have|was|were|that|this|said|says|from|about|der|die|das|den|dem|des|(?:be)?nutzer(?:s|in)?|und|mit"
    r"|von|hat|ist|sagt|utilisateur|utilisatrice|les|une|est|avec|pour|dit|usuari[oa]|los|las|con|por|para|dice"
)
QUESTION_WORDS: Final = re.compile(  # words of a question or request, and pronouns: the speaker says nothing with them
    r"guess|where|what|which|when|who|whom|whose|how|why|you|your|know|ich|bin|mein(?:e[mnrs]?)?|sie|ihr|wer|was|wie|wann|warum"
    r"|welche[mnrs]?|hier|here|mon|mes|suis|vous|quel(?:le)?s?|quand|comment|soy|estoy|usted|dónde|quién|cuándo|cómo|qué"
)
# Words of a reply that adopts the assistant's words: assent, choice, reference, or a statement about oneself.
ADOPTING: Final = re.compile(
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
    """The messages that a draft is based on: users' messages with the messages that they answer, or messages of the assistant
    and of tools alone.

    A text with content that only the assistant or a tool stated is theirs, even if the draft cites a user's message. System
    messages, and messages of the assistant or a tool that address a model, support nothing. Raises UnusableText: `provenance`
    without a supporting message, `instruction` if the text has content of a message that addresses a model.
    """
    policy = context.policy
    of_users = [each for each in cited if each.role == "user"]
    others = [each for each in cited if each.role in ("assistant", "tool")]
    if not of_users:
        check_attributed_statement(draft, cited, request, policy)
        return others
    if policy.note:  # about the whole conversation, and says whose claim each is
        return [each for each in cited if each.role == "user" or (each in others and not is_injection(each.content))]
    sound = [each for each in cited if not (each in others and is_injection(each.content))]
    texts = filter(None, (draft.text, draft.context, draft.full_text))
    if len(sound) < len(cited) and any(comes_from_others(text, cited, request) for text in texts):
        raise UnusableText("instruction")
    if draft.kind == EXPERIENCE:
        return [each for each in sound if each.role != "system"]
    told = uncited_sources(draft.text, sound, request, context.related)
    is_theirs = comes_from_others(draft.text, sound, request) and not is_paraphrase(draft.text, sound, request)
    if not told and not is_theirs:
        return [each for each in sound if each.role != "system"]
    others = [each for each in request.messages if each in others or each in told]
    check_attributed_statement(draft, others, request, policy)
    return others


def check_attributed_statement(
    draft: Draft, sources: Sequence[SliceMessage], request: ExtractionRequest, policy: Policy
) -> None:
    """Checks a statement that only the assistant or a tool made.

    Raises UnusableText: `provenance` for a statement about a person, of a system message, or under a policy that does not store
    such statements; `instruction` if one of the messages addresses a model.
    """
    if not sources or not policy.attributed or any(source.role == "system" for source in sources):
        raise UnusableText("provenance")
    if any(is_injection(source.content) for source in sources):
        raise UnusableText("instruction")
    names = speaker_names(request)
    if any(is_about_person(text, names) for text in (draft.text, draft.context, draft.full_text) if text):
        raise UnusableText("provenance")


def comes_from_others(text: str, cited: Sequence[SliceMessage], request: ExtractionRequest) -> bool:
    """Whether a name or figure of the text, or all of its content, is only in cited messages of the assistant or a tool."""
    theirs = words(each.content for each in cited if each.role != "user")
    own = words(each.content for each in messages_of_users(cited, request))
    if any(each in theirs and not shares_stem(each, own) for each in names_and_figures(text, cited, ISO_DATE)):
        return True
    content = content_words(text)
    return not any(shares_stem(each, own) for each in content) and not content.isdisjoint(theirs)


def uncited_sources(
    text: str, cited: Sequence[SliceMessage], request: ExtractionRequest, known: Collection[Memory]
) -> list[SliceMessage]:
    """The messages of the assistant and of tools that are not cited, but state a name or figure of the text that no user stated.

    Names and figures of users' memories (`known`) count as stated by users, in any spelling. Questions state nothing."""
    cited_ids = {each.message_id for each in cited}
    said = [each for each in (*request.overlap, *request.messages) if each.message_id not in cited_ids]
    others = {each.message_id: stated_words(each.content) for each in said if each.role in ("assistant", "tool")}
    theirs = names_and_figures(text, cited, DATE).intersection(chain.from_iterable(others.values()))
    if not theirs:
        return []
    own = words(each.content for each in (*messages_of_users(cited, request), *cited))
    own |= words((*(memory.text for memory in known if memory.attributed_to is None), *speaker_names(request)))
    theirs = {each for each in theirs if not shares_stem(each, own)}
    if has_numeral(words(each.content for each in cited if each.role == "user") - words([text]), cited):
        theirs = {each for each in theirs if not has_digit(each)}
    if theirs and is_paraphrase(text, cited, request):
        theirs = set(filter(has_digit, theirs))
    return [each for each in said if not theirs.isdisjoint(others.get(each.message_id, frozenset()))]


@lru_cache(maxsize=CACHE_SIZE)
def stated_words(content: str) -> frozenset[str]:
    """The words of the sentences that are no questions: the content of an answered question is the user's."""
    return words_in(" ".join(each for each in SENTENCE_END.split(content) if not each.rstrip().endswith("?")))


def has_numeral(said: Collection[str], cited: Sequence[SliceMessage]) -> bool:
    """Whether users state a number with one of the words `said`: "60k" for "60,000", "two"."""
    return not only_questions(cited) and any(has_digit(each) or NUMERAL.fullmatch(each) for each in said)


def is_paraphrase(text: str, cited: Sequence[SliceMessage], request: ExtractionRequest) -> bool:
    """Whether the text only spells the user's names and figures as the assistant or a tool does: "2" for "two", "München"
    for "munich".

    At least half of a paraphrase's content is the user's, and the user said a word or figure that the text lacks.
    """
    own = words(each.content for each in messages_of_users(cited, request))
    content, said = content_words(text), words(each.content for each in cited if each.role == "user")
    lacking = {
        each
        for each in said - words([text])
        if (has_digit(each) or len(each) >= MIN_LETTERS)
        and not (STOP_WORDS.fullmatch(each) or QUESTION_WORDS.fullmatch(each))
    }
    half_is_own = 0 < len(content) <= 2 * sum(shares_stem(each, own) for each in content)
    return half_is_own and not only_questions(cited) and any(not shares_stem(each, content) for each in lacking)


def names_and_figures(text: str, cited: Sequence[SliceMessage], dates: re.Pattern[str]) -> set[str]:
    """The names and figures of a text, without dates unless users only ask: a user's "tomorrow" becomes a date."""
    if not only_questions(cited):
        text = dates.sub(" … ", text)
    figures = (word for word in WORD.findall(text) if has_digit(word))
    named = {each.casefold() for each in (*NAME.findall(text), *figures)}
    return {each for each in named if not STOP_WORDS.fullmatch(each)}


def content_words(text: str) -> set[str]:
    """The words without stop words, figures and very short words."""
    return {
        each
        for each in words([text])
        if len(each) >= MIN_LETTERS and not (has_digit(each) or STOP_WORDS.fullmatch(each))
    }


def messages_of_users(cited: Sequence[SliceMessage], request: ExtractionRequest) -> list[SliceMessage]:
    """The users' messages of the slice and before it, and the assistant's messages that a cited reply adopts."""
    said = [*request.overlap, *request.messages]
    found = [each for each in said if each.role == "user"]
    replies = {each.message_id for each in cited if each.role == "user"}
    before: SliceMessage | None = None
    for each in said:
        if before is not None and each.message_id in replies and adopts(each, before):
            found.append(before)
        before = None if each.role == "user" else each if each.role == "assistant" else before
    return found


def adopts(reply: SliceMessage, before: SliceMessage) -> bool:
    """Whether a reply makes the assistant's words the user's: "Yes", "The second one", or an answer to a question."""
    return not is_injection(before.content) and ("?" in before.content or ADOPTING.search(reply.content) is not None)


def only_questions(cited: Sequence[SliceMessage]) -> bool:
    return all(each.content.rstrip().endswith("?") for each in cited if each.role == "user")


def words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in words_in(text)}


@lru_cache(maxsize=CACHE_SIZE)
def words_in(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in WORD.findall(text))


@contextmanager
def freeing_word_caches() -> Iterator[None]:
    """Frees the cached words of messages at the end: they take megabytes, and a user may have the messages erased."""
    try:
        yield
    finally:
        words_in.cache_clear()
        stated_words.cache_clear()


def has_digit(word: str) -> bool:
    return any(letter.isdigit() for letter in word)


def shares_stem(word: str, own: set[str]) -> bool:
    """Whether one of the user's `own` words begins as the word does: "jog" and "jogging". Numbers must be equal."""
    if word in own or has_digit(word):
        return word in own
    return any(
        word[: max(MIN_LETTERS, min(STEM_LETTERS, len(each)))] == each[: max(MIN_LETTERS, min(STEM_LETTERS, len(word)))]
        for each in own
        if len(each) >= MIN_LETTERS and not has_digit(each)
    )
