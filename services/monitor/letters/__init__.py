"""Dead letters: their causes, whether running them again would help, and one of them beside its last success."""
