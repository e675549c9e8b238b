"""Recognises what is fiction, a hypothesis, or another person's words."""
