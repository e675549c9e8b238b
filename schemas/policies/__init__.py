"""Policies, their parts, and the names of namespaces."""
