"""Messages, the windows that hold them, and the contexts that are made of those."""
