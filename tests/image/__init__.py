"""The image of a worker, rehearsed where there is no Docker: ``make image-rehearsal``."""
