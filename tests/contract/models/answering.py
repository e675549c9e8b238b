"""Who answers."""

from agents.models.port import Provider


def answering(provider: Provider) -> str:
    """Who answers, by name: of several the first."""
    return "ollama" if provider.name == "auto" else provider.name
