"""Name of the provider that answers for another."""

from agents.models.port import Provider


def answering(provider: Provider) -> str:
    """Returns the name of the provider that answers; `auto` uses Ollama here."""
    return "ollama" if provider.name == "auto" else provider.name
