"""Splits a message into sentences and applies the rules of a language to them."""
