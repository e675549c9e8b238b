"""The profile of a namespace: the few memories that a prompt must always know, made anew from the live ones."""
