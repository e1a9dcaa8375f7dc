"""What whoever leads watches for people, also while no window is open."""
