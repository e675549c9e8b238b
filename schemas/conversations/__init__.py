"""Messages, token windows and contexts."""
