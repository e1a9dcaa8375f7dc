"""What every page leans on: texts, throttling, background operations, refresh timers."""
