"""What looks after the keys: damage, counting anew, forgetting."""
