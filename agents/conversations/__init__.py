"""Conversations as people and chat services look at them: whose they are, what is in context, and acting on that by hand."""
