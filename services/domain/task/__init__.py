"""The record of a task, its states and moves, its message, and how it is asked for."""
