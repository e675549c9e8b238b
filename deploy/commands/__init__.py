"""What each command of the command line does, without its options and its printing."""
