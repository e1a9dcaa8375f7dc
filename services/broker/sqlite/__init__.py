"""The broker on one machine: messages as rows of one SQLite file."""
