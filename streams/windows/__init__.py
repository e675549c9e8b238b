"""Token windows as values: messages of a conversation, triggers of extraction, pruning. No I/O."""
