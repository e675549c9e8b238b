"""Draws line plots as SVG for deploy/docs, without a plotting library."""

from collections.abc import Mapping, Sequence
from html import escape

from msgspec import Struct

WIDTH, HEIGHT = 330, 250  # of one panel's plot
LEFT, TOP, GAP, BOTTOM = 60, 70, 60, 60
COLOURS = ("#8a8f98", "#c07a2c", "#1f6f4a", "#5b4a9a")

Line = Sequence[tuple[float, float]]


class Panel(Struct, frozen=True):
    """Values in [0, 1] over x, by the name of their line; all panels of a plot have the same names in the same order."""

    title: str
    lines: Mapping[str, Line]


def svg(panels: Sequence[Panel], *, x: tuple[float, float], x_title: str, described: str) -> str:
    """The panels side by side, the x axis from `x[0]` to `x[1]`, under one legend; `described` is for who cannot see it."""
    width = LEFT + len(panels) * (WIDTH + GAP)
    height = TOP + HEIGHT + BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'font-family="Helvetica, Arial, sans-serif" font-size="13" aria-label="{escape(described)}">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *legend(list(panels[0].lines)),
    ]
    for index, panel in enumerate(panels):
        parts += drawn(panel, LEFT + index * (WIDTH + GAP), x, x_title)
    return "\n".join([*parts, "</svg>"]) + "\n"


def legend(names: Sequence[str]) -> list[str]:
    parts = []
    for index, name in enumerate(names):
        at = LEFT + index * 190
        parts.append(f'<path d="M{at} 20 h26" stroke="{COLOURS[index]}" stroke-width="3"/>')
        parts.append(f'<text x="{at + 34}" y="24">{escape(name)}</text>')
    return parts


def drawn(panel: Panel, left: int, x: tuple[float, float], x_title: str) -> list[str]:
    def across(value: float) -> float:
        return left + (value - x[0]) / (x[1] - x[0]) * WIDTH

    def down(value: float) -> float:
        return TOP + (1 - value) * HEIGHT

    parts = [f'<text x="{left}" y="{TOP - 14}" font-weight="bold">{escape(panel.title)}</text>']
    for tenth in range(0, 11, 2):
        y = down(tenth / 10)
        parts.append(f'<path d="M{left} {y:.1f} h{WIDTH}" stroke="#e3e5e8"/>')
        parts.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{tenth / 10:.1f}</text>')
    for step in range(6):
        value = x[0] + step * (x[1] - x[0]) / 5
        parts.append(f'<text x="{across(value):.1f}" y="{TOP + HEIGHT + 20}" text-anchor="middle">{value:.2f}</text>')
    parts.append(f'<text x="{left + WIDTH / 2}" y="{TOP + HEIGHT + 44}" text-anchor="middle">{escape(x_title)}</text>')
    for colour, line in zip(COLOURS, panel.lines.values(), strict=False):
        points = " ".join(f"{across(at):.1f},{down(value):.1f}" for at, value in line)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
    return parts
