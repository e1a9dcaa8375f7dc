"""What looks after the tables: damage, counting anew, mending, forgetting."""
