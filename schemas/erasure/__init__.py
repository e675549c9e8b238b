"""Erasures of users, conversations and namespaces, and their receipts."""
