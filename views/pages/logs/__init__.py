"""The Logs page: what the programs of this machine say of themselves."""
