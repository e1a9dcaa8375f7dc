"""Which tasks a person asks for: the filter, read and matched."""
