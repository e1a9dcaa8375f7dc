"""Who works for whom: shops, workers, machines, people and their roles."""
