"""Plans that become tasks when their time has come."""
