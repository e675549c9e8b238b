"""Text functions take linear time on any message and never raise."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from agents.extraction.corrections import takes_back
from agents.models.answers.candidates import check_drafts
from agents.models.answers.drafts import Draft
from agents.models.answers.replies import read_reply
from agents.models.answers.summaries import estimated_tokens, fitted_summary
from agents.models.dates.dates import dates_in, event_time, local, with_absolute_dates
from agents.models.offline.corrections import with_corrections
from agents.models.offline.excerpt import excerpt
from agents.models.offline.findings import findings, findings_in, parse
from agents.models.offline.rules.engine.injection import is_injection
from agents.models.offline.rules.engine.languages import language_of
from agents.models.offline.rules.engine.rule_engine import Finding
from agents.models.offline.rules.engine.sentences import MAX_CHARS, sentences
from agents.models.offline.rules.findings.relations import relate
from agents.models.offline.rules.findings.sentence_findings import apply_rules
from agents.models.offline.statements import LANGUAGE_RULES, MAX_READ_CHARS
from agents.models.offline.wishes import is_no_wish, wishes_in
from agents.models.prompts.extraction import data_part
from agents.privacy.scrub import scrub
from schemas import codec
from schemas.conversations.messages import EARLIEST, LATEST
from schemas.conversations.windows import LONGEST_SUMMARY
from tests.builders.slices import MONDAY, knowing, known, said, slice_of
from tests.cases import hostile_text
from tests.cases.hostile_text import OPENINGS, UNITS, anything, assert_grows_linearly, of_chars, storable, wordy

FINDING = Finding(
    kind="preference", text="User likes tea.", confidence=0.9, importance=0.5, tags=(), old="tea", new="wine"
)
UNUSABLE_ZONES = (
    *("America", "Europe", "Etc", "America/", "UTC/", "/", "//", ".", "..", "../x", "UTC/..", "/etc/passwd", "a" * 256),
    *(
        "\x00",
        "é",
        " ",
        "\ud800",
        "tzdata.zi",
        "zone.tab",
        "leapseconds",
        "__pycache__",
        "Nope/Zone",
        "Europe/Berlin\n",
    ),
)
offsets = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(EARLIEST.replace(tzinfo=None), LATEST.replace(tzinfo=None), timezones=offsets | st.just(UTC))
zones = (
    st.none() | anything | st.sampled_from([*UNUSABLE_ZONES, "Asia/Tokyo", "America/Lima", "Etc/GMT+12", "Etc/GMT-14"])
)
unhurried = settings(deadline=None, max_examples=200)


def found_in(text: str) -> object:
    """By the rules of each language; wishes, secrets and sentences are the same for all of them, and are read once."""
    once = parse(said(text, language="en"))
    each_language = (
        once._replace(message=structs.replace(once.message, language=code), rules=rules)
        for code, rules in LANGUAGE_RULES.items()
    )
    return [list(findings_in(message)) for message in each_language]


def dated(text: str) -> object:
    return [with_absolute_dates(text, dates_in(text, MONDAY, language), language) for language in LANGUAGE_RULES]


def wished(text: str) -> object:
    asking = f"{text} forget that I {text}"
    return wishes_in(said(asking)), is_no_wish(asking)


def taken_back(text: str) -> object:
    return takes_back(text)


def amended(text: str) -> object:
    draft = Draft(kind="fact", text="User was born on Monday at 9:30 in 2015.", messages=[1], confidence=0.9)
    return with_corrections(slice_of("I was born in 2015.", text, f"No, {text}"), [draft])


def drafted(text: str) -> object:
    draft = Draft(kind="fact", text=text, messages=[1], confidence=0.9, full_text=text, event_time=text, tags=[text])
    return check_drafts([draft], slice_of("I like tea.", said(text, 2, role="assistant")), knowing())


def related(text: str) -> object:
    return relate(FINDING, [known(text), known(text)])


def excerpted(text: str) -> object:
    request = slice_of(text, said(text, 2, role="assistant"))
    return excerpt(structs.replace(request, summary=text), 40, estimated_tokens)


FUNCTIONS = (
    scrub,
    is_injection,
    sentences,
    language_of,
    found_in,
    dated,
    wished,
    taken_back,
    amended,
    drafted,
    related,
    read_reply,
    excerpted,
)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("unit", UNITS, ids=ascii)
def test_time_of_text_functions_grows_linearly_with_text_length(function: Callable[[str], object], unit: str) -> None:
    assert_grows_linearly(function, unit)


@pytest.mark.parametrize("function", [scrub, is_injection, sentences])
@pytest.mark.parametrize("opening", OPENINGS)
@pytest.mark.parametrize("unit", [" ", "\n", ".", "a"])
def test_time_of_text_functions_grows_linearly_after_words_that_open_a_pattern(
    function: Callable[[str], object], opening: str, unit: str
) -> None:
    assert_grows_linearly(function, unit, opening)


@pytest.mark.parametrize("unit", UNITS, ids=ascii)
def test_rules_process_a_sentence_of_maximum_length(unit: str) -> None:
    for tongue in LANGUAGE_RULES.values():
        list(apply_rules(tongue, of_chars(unit, MAX_CHARS), MONDAY))


@unhurried
@given(anything | wordy)
def test_text_functions_never_raise_for_arbitrary_text(text: str) -> None:
    for function in FUNCTIONS:
        function(text)


@unhurried
@given(wordy, moments, zones, st.sampled_from(["en", "de", "fr", "es", "xx", None]))
def test_findings_are_extracted_for_any_timestamp_and_time_zone_without_raising(
    text: str, at: datetime, zone: str | None, language: str | None
) -> None:
    list(findings(said(text, at=at, zone=zone, language=language)))


@unhurried
@given(storable | wordy, moments, zones.filter(lambda zone: zone is None or "\ud800" not in ascii(zone)))
def test_any_slice_is_put_into_a_prompt(text: str, at: datetime, zone: str | None) -> None:
    shown = zone and zone.encode(errors="replace").decode()
    data_part(slice_of(said(text, at=at, zone=shown)), knowing(text))


@unhurried
@given(st.sampled_from(sorted(LANGUAGE_RULES)), wordy, moments)
def test_rules_process_any_sentence_at_any_time_without_raising(language: str, text: str, at: datetime) -> None:
    list(apply_rules(LANGUAGE_RULES[language], text, at))


@pytest.mark.parametrize("zone", UNUSABLE_ZONES, ids=ascii)
@pytest.mark.parametrize("moment", [MONDAY, datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
def test_an_unusable_time_zone_falls_back_to_the_offset_of_the_timestamp(zone: str, moment: datetime) -> None:
    assert local(moment, zone) == moment


@pytest.mark.parametrize(
    ("moment", "zone"),
    [(datetime.min.replace(tzinfo=UTC), "America/New_York"), (datetime.max.replace(tzinfo=UTC), "Asia/Tokyo")],
)
def test_a_timestamp_out_of_range_in_its_time_zone_keeps_its_offset(moment: datetime, zone: str) -> None:
    assert local(moment, zone) == moment


@pytest.mark.parametrize("sentence", ["I fly tomorrow", "I fly next week", "I fly in 12 months", "I fly in 999 years"])
def test_a_relative_date_after_year_9999_is_not_parsed(sentence: str) -> None:
    assert dates_in(sentence, datetime(9999, 12, 31, tzinfo=UTC), "en") == []


@pytest.mark.parametrize(
    "sentence", ["I flew yesterday", "I flew last year", "I flew last week", "I flew 999 years ago"]
)
def test_a_relative_date_before_year_1_is_not_parsed(sentence: str) -> None:
    assert dates_in(sentence, datetime(1, 1, 1, tzinfo=UTC), "en") == []


@pytest.mark.parametrize(("day", "hours"), [(date(9999, 12, 31), -12), (date(1, 1, 1), 14)])
def test_an_event_time_out_of_range_in_utc_is_none(day: date, hours: int) -> None:
    said_at = MONDAY.astimezone(timezone(timedelta(hours=hours)))
    assert event_time(day, "at 11pm" if hours < 0 else "at 1am", said_at, "en") is None


@pytest.mark.parametrize(("sentence", "day"), [("I fly next FRİDAY", 6), ("I fly next frıday", 6), ("on ſunday", 8)])
def test_date_words_with_unusual_unicode_case_variants_are_parsed(sentence: str, day: int) -> None:
    assert [found.day.day for found in dates_in(sentence, MONDAY, "en")] == [day]


def test_a_possessive_with_an_unusual_unicode_case_variant_does_not_block_extraction() -> None:
    assert list(findings(said("Ich mag meİn Haus sehr.", language="de")))


@pytest.mark.parametrize(
    "secret", ["password: EXAMPLE-pw", "client_secret=q7EXAMPLEz9notK3realX5", "eyJEXAMPLE0.eyJEXAMPLE0.EXAMPLEsign"]
)
@pytest.mark.parametrize("unit", ["\n", " ", "1-", "a ", "(", "@", "😀", "-----BEGIN ", "-eyJ"], ids=ascii)
def test_secret_deep_inside_a_long_text_is_found(secret: str, unit: str) -> None:
    noise = of_chars(unit, 10_000)
    assert "EXAMPLE" not in scrub(f"{noise} {secret} {noise}").text


def test_spaces_before_a_secret_do_not_hide_it() -> None:
    assert "EXAMPLE" not in scrub(f"my password is{' ' * 1_000}:{' ' * 1_000}EXAMPLE-pw").text


def test_only_the_beginning_of_a_very_long_message_is_read() -> None:
    filler = "What is this? "
    long = filler * (MAX_READ_CHARS // len(filler))
    texts = [finding.text for _, finding in findings(said(f"I like tea. {long} I like wine. "))]
    assert texts == ["User likes tea."]


def test_a_sentence_cut_by_the_read_limit_is_ignored() -> None:
    question = "What is this? "
    before = of_chars(question, MAX_READ_CHARS // len(question) * len(question) - len(question) * 2)
    cut = "I like tea" + " very" * 20 + " and no more."
    assert len(before) < MAX_READ_CHARS < len(before + cut)
    assert list(findings(said(before + cut))) == []


def test_draft_with_half_a_surrogate_pair_is_refused() -> None:
    reply = read_reply('Here: {"kind":"fact","text":"User likes \\ud83d tea","messages":[1],"confidence":0.9}')
    checked = check_drafts(reply.drafts, slice_of("I like tea."), knowing())
    assert (checked.proposals, checked.rejected) == ((), {"schema": 1})


@unhurried
@given(storable)
def test_every_draft_that_passes_the_checks_can_be_encoded(text: str) -> None:
    draft = {"kind": "fact", "text": text, "messages": [1, 10**30], "confidence": 0.9, "context": text, "tags": [text]}
    codec.encode(check_drafts([draft], slice_of("I like tea."), knowing()))


@unhurried
@given(anything | wordy, st.integers(-1, 60))
def test_any_text_becomes_a_one_line_summary_within_its_limits(text: str, max_tokens: int) -> None:
    summary = fitted_summary(text, max_tokens, estimated_tokens)
    assert estimated_tokens(summary) <= max(0, max_tokens)
    assert len(summary) <= LONGEST_SUMMARY
    assert len(summary.splitlines()) <= 1
    assert summary.count("[") == summary.count("]")
    assert not is_injection(summary)
    codec.encode(summary)


@unhurried
@given(anything | wordy, st.integers(1, 60))
def test_fitting_a_summary_is_idempotent(text: str, max_tokens: int) -> None:
    summary = fitted_summary(text, max_tokens, estimated_tokens)
    assert fitted_summary(summary, max_tokens, estimated_tokens) == summary


def test_the_linear_time_assertion_detects_a_quadratic_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hostile_text, "MOST_TRIES", 1)  # each takes a second
    with pytest.raises(AssertionError, match="take more than"):
        assert_grows_linearly(lambda text: re.search(r"a*\s*b", text), "a")
