"""Shops: what holds them, the limits that apply, and what can be done about both."""
