"""Answers written to files: tasks, sheets, the audit trail."""
