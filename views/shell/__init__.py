"""The frame around the pages: rail, top bar, status bar, toasts, connection banner."""
