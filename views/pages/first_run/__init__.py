"""First run: where tasks shall run."""
