"""The store of a fleet: hashes and indexes in one slot of Redis, changed by scripts."""
