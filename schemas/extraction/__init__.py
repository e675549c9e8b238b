"""Requests to the LLM stage, and the candidates in its answers, with importance and links."""
