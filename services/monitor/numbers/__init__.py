"""Numbers of the fleet as they are measured, kept and told to Prometheus."""
