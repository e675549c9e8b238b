"""Precision and recall of `scrub` on a labelled set. Rules were tuned on one half only.

In a text of `labelled_secrets.json`, ⟦…⟧ marks what has to go. A ¦ is left out on reading: it keeps those who search
repositories for keys from taking an example for a real one. The log shows the figures of each kind.
"""

import logging
import re
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from msgspec import Struct

from agents.privacy.personal_data import PERSONAL
from agents.privacy.scrub import scrub
from schemas.policies.policies import PersonalKind

log = logging.getLogger(__name__)
MARKED = re.compile("⟦(.*?)⟧", re.DOTALL)
PLACEHOLDER = re.compile(r"\[[A-Z_]+\]")
# Parts of a secret of fewer characters stand in other words too.
LEAST_PART_CHARS = 3
HALVES = ("tuning", "held_out")
PERSONAL_KINDS = {kind.upper(): kind for kind in PERSONAL}  # as cases name them


class Case(Struct, frozen=True):
    """A text with its marks; `kind` is `NONE` where nothing may be taken."""

    kind: str
    half: str
    where: str
    language: str
    text: str

    @property
    def plain(self) -> str:
        return MARKED.sub(r"\1", self.text.replace("¦", ""))

    @property
    def around(self) -> list[str]:
        return MARKED.sub("\n", self.text.replace("¦", "")).split()

    @property
    def secrets(self) -> list[str]:
        return MARKED.findall(self.text.replace("¦", ""))


CASES = msgspec.json.decode((Path(__file__).parent / "labelled_secrets.json").read_bytes(), type=list[Case])


def credentials(half: str) -> list[Case]:
    return [case for case in CASES if case.half == half and case.kind not in {"NONE", "CARD_NUMBER", *PERSONAL_KINDS}]


def harmless(half: str) -> list[Case]:
    return [case for case in CASES if case.half == half and case.kind == "NONE"]


def of_kind(kind: str, half: str) -> list[Case]:
    return [case for case in CASES if case.half == half and case.kind == kind]


def is_clean(case: Case) -> bool:
    """Whether no part of what is marked is left; personal data is asked for where it is what is marked."""
    kinds = [PERSONAL_KINDS[case.kind]] if case.kind in PERSONAL_KINDS else []
    left = PLACEHOLDER.sub("", scrub(case.plain, kinds).text)
    parts = [part for secret in case.secrets for part in secret.split() if len(part) >= LEAST_PART_CHARS]
    return not any(part in left for part in parts)


def recall(cases: list[Case]) -> float:
    found, labelled = Counter[str](), Counter[str]()
    for case in cases:
        labelled[case.kind] += 1
        found[case.kind] += is_clean(case)
    for kind, count in labelled.items():
        log.info("%s: %s %d of %d", halves_of(cases), kind, found[kind], count)
    log.info("%s: %d of %d, recall %.3f", halves_of(cases), found.total(), len(cases), found.total() / len(cases))
    return found.total() / labelled.total()


def halves_of(cases: list[Case]) -> str:
    return "+".join(half for half in HALVES if any(case.half == half for case in cases))


def false_positives(cases: list[Case], personal: tuple[PersonalKind, ...] = ()) -> list[str]:
    taken = [case.text for case in cases if scrub(case.plain, personal).text != case.plain]
    log.info("%s: %d of %d harmless texts changed (%s)", cases[0].half, len(taken), len(cases), personal)
    return taken


@pytest.mark.parametrize("halves", [HALVES, ("held_out",)], ids=["all", "held out"])
def test_scrubbing_recalls_at_least_98_percent_of_labelled_credentials(halves: tuple[str, ...]) -> None:
    assert recall([case for half in halves for case in credentials(half)]) >= 0.98


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("kind", ["CARD_NUMBER", *PERSONAL_KINDS])
def test_scrubbing_recalls_all_labelled_card_numbers_and_personal_data_of_a_kind(kind: str, half: str) -> None:
    assert recall(of_kind(kind, half)) == 1


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("personal", [(), tuple(PERSONAL)])
def test_labelled_harmless_texts_are_unchanged(personal: tuple[PersonalKind, ...], half: str) -> None:
    assert false_positives(harmless(half), personal) == []


@pytest.mark.parametrize("half", HALVES)
def test_words_around_a_credential_stay(half: str) -> None:
    cases = credentials(half)
    whole = sum(
        " ".join(case.around) == " ".join(PLACEHOLDER.sub(" ", scrub(case.plain).text).split()) for case in cases
    )
    log.info("%s: nothing else gone in %d of %d", half, whole, len(cases))
    assert whole / len(cases) >= 0.9


def test_the_labelled_set_is_large_enough_and_every_case_is_in_one_half() -> None:
    assert sum(len(credentials(half)) for half in HALVES) >= 140
    assert sum(len(harmless(half)) for half in HALVES) >= 70
    assert {case.half for case in CASES} == set(HALVES)
    assert all((case.kind == "NONE") != bool(case.secrets) for case in CASES)


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_scrubbing_a_labelled_text_is_idempotent(case: Case) -> None:
    once = scrub(case.plain, tuple(PERSONAL)).text
    assert scrub(once, tuple(PERSONAL)).text == once
