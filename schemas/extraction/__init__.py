"""Requests to the LLM stage, the candidates in its answers, and commands to the curator."""
