"""Erasing users, conversations and namespaces everywhere: who does what is in deploy/docs/erasure.md."""
