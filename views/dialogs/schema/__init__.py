"""A form made from a JSON schema."""
