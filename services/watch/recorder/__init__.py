"""The flight recorder: what the fleet was at any moment of the last 30 days, and what changed around it."""
