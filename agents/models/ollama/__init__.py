"""Models on one's own machine, through the HTTP API of Ollama."""
