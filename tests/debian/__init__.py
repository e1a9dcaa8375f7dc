"""The program on Debian 13, from nothing and with the servers of today: ``make debian-13``."""
