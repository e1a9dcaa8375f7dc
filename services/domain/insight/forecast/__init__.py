"""What is to come, from what was measured."""
