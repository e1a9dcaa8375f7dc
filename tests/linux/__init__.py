"""The package for Debian: how it is made, and that it installs, works and leaves."""
