"""What the fleet stands on: findings by severity, each with its remedy, and the repair."""
