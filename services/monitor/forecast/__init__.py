"""What is to come: when what waits will have run, what drifts, how much flows."""
