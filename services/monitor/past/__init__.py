"""The past as the recorder kept it: its file, and what is asked of it."""
