"""Charts over ring buffers of samples."""
