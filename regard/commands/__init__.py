"""One word of the command line, one function."""
