"""What the desktop of this person starts Fleetdeck for: ``fleetdeck://`` links, and the log-in."""
