"""What became of one message, read from the tables that hold its traces."""
