"""Counts with their nouns, in log lines, errors and the output of the command line."""


def counted(number: int, plural: str) -> str:
    """Returns a number with its noun, given in the plural: `1 memory`, `1,234 memories`."""
    singular = f"{plural[:-3]}y" if plural.endswith("ies") else plural.removesuffix("s")
    return f"{number:,} {singular if number == 1 else plural}"
