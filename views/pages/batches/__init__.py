"""The page of batches: how far each is, what waits for what in it, what is not done and why."""
