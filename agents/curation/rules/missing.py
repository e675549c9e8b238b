"""What a decision lacks: it is fetched with nothing locked, and the decision begun again."""


class NeedsInput(Exception):
    """A decision cannot be made yet; nothing of it is kept."""
