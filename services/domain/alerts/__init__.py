"""Alerts: what is told to people who do not look at a window; rules, incidents, and the step that judges. Pure."""
