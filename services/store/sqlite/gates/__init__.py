"""What holds tasks back, as rows: gates, what is parked at them, and who waits."""
