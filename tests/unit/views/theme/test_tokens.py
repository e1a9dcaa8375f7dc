"""The design's numbers: contrast in both themes, complete statuses, mixed tints."""

from __future__ import annotations

import pytest

from views.theme import tokens as design
from views.theme.tokens import LANES, STATUSES, TYPE, Tokens, platform_badge, status, tokens

GROUNDS = ("bg", "surface", "raised", "hover", "sel")


def luminance(value: str) -> float:
    channels = [int(value[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.fixture(params=[(name, high) for name in ("dark", "light") for high in (False, True)], ids=str)
def theme(request: pytest.FixtureRequest) -> Tokens:
    return tokens(*request.param)


@pytest.mark.parametrize("role", ["text", "text2", "text3", "accent", *sorted({s.role for s in STATUSES.values()})])
def test_text_can_be_read_on_every_ground(theme: Tokens, role: str) -> None:
    # The table of the design rounds to one digit; so does this.
    assert min(round(contrast(theme.role(role), theme.role(ground)), 1) for ground in GROUNDS) >= 4.5


def test_control_edges_can_be_seen(theme: Tokens) -> None:
    for edge in ("ctl", "focus"):
        assert min(contrast(theme.role(edge), theme.role(ground)) for ground in GROUNDS) >= 3.0
    if theme.high_contrast:
        assert min(contrast(theme.role("line2"), theme.role(ground)) for ground in GROUNDS) >= 3.0


@pytest.mark.parametrize(
    ("ink", "tint", "percent", "over"),
    [
        ("dead", "dead", 12, "input"),  # a line that is wrong, with its number and what is wrong
        ("text", "dead", 16, "sel"),  # a cell of a file that is wrong
        ("text", "retrying", 28, "input"),  # what was found in a log
        ("text", "accent", 30, "surface"),  # a heading of the guide
        ("text", "retrying", 12, "bg"),  # the banner of a lost connection
        *((status.role, status.role, 10, "surface") for status in STATUSES.values()),  # pills, strips
    ],
)
def test_text_can_be_read_on_tints(theme: Tokens, ink: str, tint: str, percent: int, over: str) -> None:
    assert round(contrast(theme.role(ink), theme.tint(tint, percent, over)), 1) >= 4.5


@pytest.mark.parametrize("fill", ["accentbg", "dangerbg", "accenthover", "dangerhover"])
def test_white_can_be_read_on_fills(theme: Tokens, fill: str) -> None:
    assert contrast(theme.role("white"), theme.role(fill)) >= 4.5


@pytest.mark.parametrize("lane", LANES.values(), ids=list(LANES))
def test_lane_glyphs_can_be_seen(theme: Tokens, lane: design.LaneToken) -> None:
    assert contrast(theme.role(lane.role), theme.role("surface")) >= 3.0


def test_every_role_has_a_value_in_both_themes(theme: Tokens) -> None:
    for role in theme.roles():
        assert len(theme.role(role)) == 7


def test_an_unknown_role_is_an_error(theme: Tokens) -> None:
    with pytest.raises(KeyError):
        theme.role("mauve")


def test_glyphs_differ_so_that_a_grey_print_can_be_read() -> None:
    glyphs = [token.glyph for token in STATUSES.values()]
    assert len(set(glyphs)) == len(glyphs)


def test_every_state_of_a_task_has_glyph_and_word() -> None:
    from services.domain.task.status import Status

    for state in Status:
        token = status(state.value, gated=True)
        assert token.glyph
        assert token is not STATUSES["unconfirmed"]


@pytest.mark.parametrize(
    ("name", "gated", "shown"),
    [
        ("queued", False, "waiting"),
        ("pending", False, "waiting"),
        ("blocked", True, "waiting"),
        ("blocked", False, "blocked"),
        ("draining", False, "scheduled"),
        ("nonsense", False, "unknown"),
    ],
)
def test_recorded_states_are_shown_under_few_words(name: str, gated: bool, shown: str) -> None:
    assert status(name, gated=gated) is STATUSES[shown]


def test_tints_mix_over_the_surface() -> None:
    dark = tokens("dark")
    assert dark.tint("dead", 0) == dark.role("surface")
    assert dark.tint("dead", 100) == dark.role("dead")
    assert dark.tint("white", 50, over="shadow") == "#808080"


def test_high_contrast_strengthens_lines_and_captions() -> None:
    plain, strong = tokens("dark"), tokens("dark", True)
    assert strong.role("line2") == plain.role("ctl")
    assert strong.role("text3") == plain.role("text2")


def test_nothing_is_smaller_than_eleven_but_the_badge() -> None:
    for kind, step in TYPE.items():
        assert step.px >= 11 or kind == "badge"
        assert step.zh_px >= 12 or kind == "badge"


@pytest.mark.parametrize(
    ("platform", "badge"), [("pdd", "PDD"), ("tiktok", "TTS"), ("Shopee", "SPE"), ("mercado", "MERC"), ("", "")]
)
def test_platforms_have_text_badges(platform: str, badge: str) -> None:
    assert platform_badge(platform) == badge
