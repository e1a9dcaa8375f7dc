"""The commands, a noun or a verb a file."""
