"""What is true of a wait, a worker, a shop, a cause, the fleet: one answer for every screen, command and doctor."""
