"""Rules that recognise that a statement ends an earlier one. Pure."""
