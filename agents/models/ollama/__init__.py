"""Models served by Ollama, through its HTTP API."""
