"""The command line: words to questions and acts, errors to exit codes."""
