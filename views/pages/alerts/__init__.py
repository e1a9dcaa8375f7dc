"""The Alerts page: incidents, the rules that raise them, and the channels that tell of them."""
