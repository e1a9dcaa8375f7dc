"""What pages are made of: verbs, and how they are done."""
