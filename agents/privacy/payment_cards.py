"""Numbers of payment cards: the digits, lengths and beginnings that issuers give out, and a right check digit."""

import re

# Groups of four, or the groups of American Express (4-6-5) and Diners Club (4-6-4).
CARD = re.compile(
    r"(?<![A-Za-z0-9_-])(?<!\d[ .])[2-6]\d{3}(?:(?:[ .-]?\d{4}){2}[ .-]?\d{1,7}|[ .-]?\d{6}[ .-]?\d{4,5})"
    r"(?![A-Za-z0-9_-])(?!\.\d)"
)
# ISO/IEC 7812 beginnings and the lengths that are in use with them.
ISSUED = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}|35\d{14}"
    r"|6(?:011|[245]\d\d)\d{12}(?:\d{3})?|(?:5[06-8]|6[0-9])\d{14}(?:\d{3})?"
)


def is_card(number: str) -> bool:
    """Whether a run of digits, spaces, dots and dashes is the number of a card."""
    digits = re.sub(r"\D", "", number)
    return bool(ISSUED.fullmatch(digits)) and passes_luhn(digits)


def passes_luhn(digits: str) -> bool:
    """ISO/IEC 7812-1: from the right, every second digit doubled, digit sums, divisible by ten."""
    doubled = [int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(reversed(digits))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0
