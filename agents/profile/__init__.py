"""The profile of a namespace: the few memories that every prompt needs, computed from the live ones."""
