"""The New task dialog: what, for which shops, with which parameters, how urgent."""
