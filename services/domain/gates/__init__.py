"""What may hold a task back, each gate as values and decisions."""
