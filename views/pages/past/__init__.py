"""Looking back: the window as it was at a moment."""
