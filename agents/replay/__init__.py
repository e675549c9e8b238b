"""Remembering again what was said, in the shadow of what is remembered, and switching between the two."""
