"""One SQLite file for several processes: who holds it, how it is opened, who writes."""
