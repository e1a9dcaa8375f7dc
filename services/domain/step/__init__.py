"""What an operation does to a record, its shop, limits, twins and dependants: decided here, once, for every store.

``kernel.apply`` takes a ``View`` and operations (``services.domain.change``) and answers. A driver loads what a
decision reads and writes what it wrote; it decides nothing.
"""
