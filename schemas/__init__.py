"""What data is: the messages, requests, memories, policies and events that travel and rest, and nothing that moves them."""
