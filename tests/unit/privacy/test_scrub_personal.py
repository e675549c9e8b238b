"""Personal data is removed on request, by kind and in linear time."""

import pytest

from agents.privacy.personal_data import PERSONAL
from agents.privacy.scrub import Scrubbed, scrub
from schemas.policies.policies import PersonalKind
from tests.cases.hostile_text import assert_grows_linearly

EVERYTHING = tuple(PERSONAL)
TEXT = "I am anna@example.org, +44 7700 900123, 12 Elm Street."
# Repeated, each opens a shape of personal data, of a password or of a key and does not finish it.
OPENERS = (
    *(
        "a@a.",
        "a@a ",
        "+1 ",
        "+1(",
        "(0)",
        "0171 ",
        "tel. ",
        "call me at ",
        "12 Elm ",
        "12 Elm Oak Street, ",
        "Aa",
        "Aa ",
    ),
    *(
        "10 rue de la ",
        "Calle de la ",
        "a (at) ",
        "a (dot) ",
        "Haupt",
        "P.O. Box ",
        "pass for the ",
        "password of a b c ",
    ),
    *(
        "password to ",
        "mysql -u root ",
        "curl -u a:",
        "x as my ",
        "login a ",
        "WIFI:S:a;",
        "pin for a b ",
        "seed phrase is a",
    ),
    *(
        "abc ",
        "api key ",
        "secret=",
        "&sig=",
        "session",
        "key-",
        "key-key_",
        "4111 ",
        "4111.",
        "1234 is your ",
        "echo a|",
    ),
    *(
        "password is",
        "https://abc",
        "authorization: ",
        "Private-Lines: 1\naaaaaaaaaaaaaaaa\n",
        "パスワード",
        "M.",
        "ssessionid",
    ),
)


@pytest.mark.parametrize(
    ("personal", "text", "found"),
    [
        ((), TEXT, {}),
        (("email",), "I am [EMAIL], +44 7700 900123, 12 Elm Street.", {"EMAIL": 1}),
        (("phone",), "I am anna@example.org, [PHONE], 12 Elm Street.", {"PHONE": 1}),
        (("address",), "I am anna@example.org, +44 7700 900123, [ADDRESS].", {"ADDRESS": 1}),
    ],
)
def test_only_the_requested_kinds_of_personal_data_are_scrubbed(
    personal: tuple[PersonalKind, ...], text: str, found: dict[str, int]
) -> None:
    assert scrub(TEXT, personal) == Scrubbed(text, found)


def test_credentials_leave_beside_personal_data() -> None:
    scrubbed = scrub("anna@example.org, password: EXAMPLE-pw1", EVERYTHING)
    assert scrubbed == Scrubbed("[EMAIL], password: [PASSWORD]", {"PASSWORD": 1, "EMAIL": 1})


@pytest.mark.parametrize(
    "text",
    ["git@github.com:acme/app.git", "@anna and @max_99", "on 01.02.2026 at 10:30", "192.168.100.254", "1-2-3 go"],
)
def test_text_resembling_personal_data_is_unchanged(text: str) -> None:
    assert scrub(text, EVERYTHING).text == text


@pytest.mark.parametrize("unit", OPENERS, ids=ascii)
def test_scrubbing_time_grows_linearly_with_the_length_of_a_text(unit: str) -> None:
    assert_grows_linearly(lambda text: scrub(text, EVERYTHING), unit)


@pytest.mark.parametrize("opening", ["password", "password is", "password:", "api key", "pin", "tel."])
@pytest.mark.parametrize("ending", ["x", "EXAMPLE-pw1", "12"])
def test_scrubbing_time_grows_linearly_with_the_spaces_between_a_name_and_its_value(opening: str, ending: str) -> None:
    assert_grows_linearly(lambda text: scrub(text + ending, EVERYTHING), " ", opening)
