"""The commands of the command line, a module each: its options, what it does, what it prints."""
