"""What carries a message to people: each kind of channel and the addresses that it understands."""
