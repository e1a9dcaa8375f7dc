"""``task``: create, look at and change tasks."""
