"""The connections that were made in a window: kept beside config.toml, their passwords in the system's key store."""
