"""Tests of the house itself: who may import whom, what lies where, how large it grows."""
