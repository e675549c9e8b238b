"""The agents of each stage, the calls of models, the rules of curation, and the HTTP API."""
