"""The command line: `main.py` lists the commands, and each has a module of its own."""
