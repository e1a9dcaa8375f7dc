"""Workers: which machines work, on what, and what they are told."""
