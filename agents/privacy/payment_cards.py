"""Payment card numbers: digits with an issuer's prefix and length, and a valid check digit."""

import re

# Groups of four digits, or those of American Express (4-6-5) and Diners Club (4-6-4).
CARD = re.compile(
    r"(?<![A-Za-z0-9_-])(?<!\d[ .])[2-6]\d{3}(?:(?:[ .-]?\d{4}){2}[ .-]?\d{1,7}|[ .-]?\d{6}[ .-]?\d{4,5})"
    r"(?![A-Za-z0-9_-])(?!\.\d)"
)
# Issuer prefixes (ISO/IEC 7812) with the lengths in use.
ISSUED = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}|35\d{14}"
    r"|6(?:011|[245]\d\d)\d{12}(?:\d{3})?|(?:5[06-8]|6[0-9])\d{14}(?:\d{3})?"
)


def is_card(number: str) -> bool:
    """Whether a run of digits, spaces, dots and dashes is a card number."""
    digits = re.sub(r"\D", "", number)
    return bool(ISSUED.fullmatch(digits)) and passes_luhn(digits)


def passes_luhn(digits: str) -> bool:
    """Whether the check digit is valid (Luhn algorithm, ISO/IEC 7812-1)."""
    doubled = [int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(reversed(digits))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0
