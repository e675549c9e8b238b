"""Data shapes, in transit and stored: messages, requests, memories, policies and events. No I/O."""
