"""The windows stage: keeps the token window of each conversation and asks for extraction."""
