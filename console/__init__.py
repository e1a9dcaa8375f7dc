"""The shell: everything is put together here, nothing is decided here."""
