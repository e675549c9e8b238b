"""Live memory events: event streams, positions in them, and change notifications."""
