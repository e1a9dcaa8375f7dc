"""Consumers, slots and leases: what makes a process a worker."""
