"""Token counts of messages, their calibration by billed tokens, and the context sizes of models."""
