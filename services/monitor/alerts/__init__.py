"""Questions about alerts, and their sentences in the language of who reads."""
