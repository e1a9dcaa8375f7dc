"""The page of queues: what waits in each, how fast it moves, what is the matter with it."""
