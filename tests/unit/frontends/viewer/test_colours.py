"""Adjacent colours can be told apart by WCAG's contrast, and those of charts also with colour blindness."""

from __future__ import annotations

import itertools
import math
import re
from typing import TypeAlias

import pytest

from kiro_learn.frontends.viewer.routes import FOLDER

CSS = (FOLDER / "app.css").read_text("utf-8")
Colour: TypeAlias = tuple[float, float, float]

BLOCKS = [
    dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in re.findall(r"\{([^{}]*--page:[^{}]*)\}", CSS)
]
LIGHT, DARK, CHOSEN_DARK = BLOCKS
THEMES = {"light": LIGHT, "dark": DARK}
GROUNDS = ("card", "page", "sunken", "selected")
TEXTS = ("text", "muted", "accent", "ok", "warn", "bad")
CHARTS = ("c1", "c2", "c3", "c4", "c5")

MACHADO = {
    "normal": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
"""Simulations of colour blindness for linear RGB, severity 1: Machado, Oliveira and Fernandes (2009)."""

XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))
WHITE = (0.95047, 1.0, 1.08883)


def linear(text: str) -> Colour:
    red, green, blue = (int(text[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return _linear(red), _linear(green), _linear(blue)


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)


def times(matrix: tuple[Colour, ...], colour: Colour) -> Colour:
    first, second, third = (sum(a * b for a, b in zip(row, colour, strict=True)) for row in matrix)
    return first, second, third


def contrast(one: str, other: str) -> float:
    bright, dark = sorted((times(XYZ, linear(each))[1] for each in (one, other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def lab(colour: Colour) -> Colour:
    clipped = tuple(min(1.0, max(0.0, each)) for each in colour)
    x, y, z = (
        _cube(value / white)
        for value, white in zip(times(XYZ, (clipped[0], clipped[1], clipped[2])), WHITE, strict=True)
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _cube(value: float) -> float:
    return math.cbrt(value) if value > 216 / 24389 else (24389 / 27 * value + 16) / 116


def ciede2000(one: Colour, other: Colour) -> float:
    """The colour difference CIEDE2000: Sharma, Wu and Dalal (2005)."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean_c7 = ((math.hypot(a1, b1) + math.hypot(a2, b2)) / 2) ** 7
    g = 1.5 - 0.5 * math.sqrt(mean_c7 / (mean_c7 + 25**7))
    c1, c2 = math.hypot(g * a1, b1), math.hypot(g * a2, b2)
    h1, h2 = (math.degrees(math.atan2(b, g * a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    dh = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn) / 2)
    lightness, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    hue = (h1 + turn / 2) % 360 if c1 * c2 else h1 + h2
    t = 1 - 0.17 * _cos(hue - 30) + 0.24 * _cos(2 * hue) + 0.32 * _cos(3 * hue + 6) - 0.2 * _cos(4 * hue - 63)
    sl = 1 + 0.015 * (lightness - 50) ** 2 / math.sqrt(20 + (lightness - 50) ** 2)
    sc, sh = 1 + 0.045 * chroma, 1 + 0.015 * chroma * t
    rc = 2 * math.sqrt(chroma**7 / (chroma**7 + 25**7))
    rotation = -math.sin(math.radians(60 * math.exp(-(((hue - 275) / 25) ** 2)))) * rc
    dl, dc = (l2 - l1) / sl, (c2 - c1) / sc
    return math.sqrt(dl**2 + dc**2 + (dh / sh) ** 2 + rotation * dc * dh / sh)


def _cos(degrees: float) -> float:
    return math.cos(math.radians(degrees))


def test_the_difference_is_computed_as_its_authors_do() -> None:
    assert ciede2000((50, 2.6772, -79.7751), (50, 0, -82.7485)) == pytest.approx(2.0425, abs=1e-4)
    assert ciede2000((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387)) == pytest.approx(1.2644, abs=1e-4)


def test_the_chosen_dark_is_the_systems() -> None:
    assert CHOSEN_DARK == DARK
    assert LIGHT.keys() == DARK.keys()


@pytest.mark.parametrize("theme", THEMES)
def test_text_is_legible_on_every_ground(theme: str) -> None:
    colours = THEMES[theme]
    pairs = [(text, ground) for text in TEXTS for ground in GROUNDS] + [("on-accent", "accent")]
    assert {pair: ratio for pair in pairs if (ratio := contrast(colours[pair[0]], colours[pair[1]])) < 4.5} == {}


@pytest.mark.parametrize("theme", THEMES)
def test_edges_and_marks_are_seen(theme: str) -> None:
    colours = THEMES[theme]
    pairs = [("control", ground) for ground in ("card", "page", "sunken")] + [(chart, "card") for chart in CHARTS]
    assert {pair: ratio for pair in pairs if (ratio := contrast(colours[pair[0]], colours[pair[1]])) < 3} == {}


@pytest.mark.parametrize("vision", MACHADO)
@pytest.mark.parametrize("theme", THEMES)
def test_no_two_colours_of_charts_look_alike(theme: str, vision: str) -> None:
    seen = {name: lab(times(MACHADO[vision], linear(THEMES[theme][name]))) for name in CHARTS}
    differences = {pair: ciede2000(seen[pair[0]], seen[pair[1]]) for pair in itertools.combinations(CHARTS, 2)}
    assert min(differences.values()) >= 15, differences
