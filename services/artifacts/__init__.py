"""Drivers of the artifact port: a folder of this machine, or a bucket."""
