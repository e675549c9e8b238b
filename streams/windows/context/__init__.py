"""The context of a conversation: its history, what left it, and what a model is shown."""
