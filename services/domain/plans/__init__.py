"""Work that repeats: schedules and their instants."""
