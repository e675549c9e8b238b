"""Requests to the LLM stage and the candidates it answers, and commands to the curator."""
