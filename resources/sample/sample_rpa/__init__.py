"""The sample RPA product: flows that fetch from the storefront and keep what they find in a SQLite file.

A fleet starts several hundred of these processes a minute, so start-up is the budget here. Modules that cost tens of
milliseconds to import stay out on purpose: argparse, typing, dataclasses, pathlib, logging, urllib and http.client
(with email and ssl behind it). What only some flows need is imported by those flows.
"""
