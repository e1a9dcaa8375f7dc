"""What helps to decide about one dead letter."""
