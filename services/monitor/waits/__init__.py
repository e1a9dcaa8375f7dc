"""What holds waiting tasks back, and what seems to hang."""
