"""What a connection is for: production asks twice; every other environment is a quiet tag."""

from __future__ import annotations

PRODUCTION, STAGING, TEST = "production", "staging", "test"
ENVIRONMENTS = ("", PRODUCTION, STAGING, TEST)
#: what people write instead; anything else is a tag of their own
_SAME = {"prod": PRODUCTION, "live": PRODUCTION, "stage": STAGING, "testing": TEST}
_TAGS = {PRODUCTION: "PROD"}
LONGEST_TAG = 12


def read(text: str) -> str:
    """The environment that a person named, in whatever case; what is not known stays as it was written."""
    word = text.strip()
    known = _SAME.get(word.lower(), word.lower())
    return known if known in ENVIRONMENTS else word


def is_production(environment: str) -> bool:
    """Whether a mistake here costs real shops."""
    return read(environment) == PRODUCTION


def tag(environment: str) -> str:
    """What stands beside the name, such as PROD; "" for none."""
    known = read(environment)
    return _TAGS.get(known, known.upper()[:LONGEST_TAG])
