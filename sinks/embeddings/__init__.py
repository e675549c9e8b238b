"""Texts to vectors: the port, the small model that ships, and a fake for tests."""
