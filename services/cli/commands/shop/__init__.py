"""``shop`` and what belongs to it: breakers, homes, logins, sessions."""
