"""Data shapes that travel and rest: messages, requests, memories, policies and events. No code here moves them."""
