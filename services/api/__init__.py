"""REST: the command line's verbs over HTTP, for other programs; loaded by the command ``api`` only."""
