"""Checks of models' answers: every provider's answer passes them."""
