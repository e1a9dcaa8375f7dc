"""``dead``, ``cause`` and ``causes``: dead letters and what they died of."""
