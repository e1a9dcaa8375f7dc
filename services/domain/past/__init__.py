"""The fleet as it was, and what changed: values and decisions of the flight recorder."""
