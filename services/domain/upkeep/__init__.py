"""What can be wrong with what is stored or with a fleet, and what was mended."""
