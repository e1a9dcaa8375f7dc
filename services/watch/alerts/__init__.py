"""Alerts: rules look at the fleet, incidents are judged, and messages leave by an outbox.

``rules`` has one file a rule, ``channels`` what carries a message; ``keeper.py`` turns them, ``sender.py`` sends.
"""
