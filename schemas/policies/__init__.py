"""Policies, and the namespaces of their templates."""
