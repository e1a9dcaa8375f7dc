"""Acts that are taken back from their entry in the audit."""
