"""The composition root: adapters picked from the settings and put together."""
