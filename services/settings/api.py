"""Settings of the server of ``api``."""

from __future__ import annotations

import msgspec


class ApiSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much of other programs' questions is answered; where it listens is said on its command line."""

    requests_per_minute: int = 1200  #: of each token, and of all who ask without one together
    streams: int = 32  #: streams of events at once, each of which keeps a connection open
