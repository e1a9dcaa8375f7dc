"""The program under a real Windows CPython, which Debian's wine runs: ``make windows-test``."""
