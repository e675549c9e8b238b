"""Token windows as values: what a conversation's window holds, when it asks for extraction, what it forgets. No I/O."""
