"""Policies, and the namespaces that their templates name."""
