"""Pieces of SVG text."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Final

FONT: Final = "font-family='Helvetica,Arial,sans-serif'"


def document(width: float, height: float, parts: Iterable[str], title: str) -> str:
    """A picture of some size, in pixels, which shrinks with its page."""
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:g} {height:g}' width='{width:g}' "
        f"style='max-width:100%;background:#fff' role='img' {FONT}><title>{escape(title)}</title>"
        f"{''.join(parts)}</svg>"
    )


def box(x: float, y: float, width: float, height: float, fill: str, tip: str, is_round: bool = False) -> str:
    """A filled rectangle or, round, an oval, with a text that shows under the pointer."""
    look = f"fill='{escape(fill)}' stroke='#444'><title>{escape(tip)}</title>"
    if is_round:
        rx, ry = width / 2, height / 2
        return f"<ellipse cx='{x + rx:g}' cy='{y + ry:g}' rx='{rx:g}' ry='{ry:g}' {look}</ellipse>"
    return f"<rect x='{x:g}' y='{y:g}' width='{width:g}' height='{height:g}' {look}</rect>"


def frame(x: float, y: float, width: float, height: float, tip: str) -> str:
    """A dashed rectangle around others, with a text that shows under the pointer."""
    look = f"rx='8' fill='#f4f4f4' stroke='#b30' stroke-dasharray='5 3'><title>{escape(tip)}</title>"
    return f"<rect x='{x:g}' y='{y:g}' width='{width:g}' height='{height:g}' {look}</rect>"


def text(x: float, y: float, words: str, size: float = 11, anchor: str = "middle") -> str:
    """Words around, before or after a point."""
    return f"<text x='{x:g}' y='{y:g}' font-size='{size:g}' text-anchor='{anchor}'>{escape(words)}</text>"


def line(points: Iterable[tuple[float, float]], has_arrow: bool = False) -> str:
    """A line through points, perhaps with an arrow at its end."""
    listed = list(points)
    drawn = " ".join(f"{x:g},{y:g}" for x, y in listed)
    made = f"<polyline points='{drawn}' fill='none' stroke='#777'/>"
    if has_arrow:
        (ax, ay), (x, y) = listed[-2:]
        length = max(((x - ax) ** 2 + (y - ay) ** 2) ** 0.5, 1e-9)
        ux, uy = (x - ax) / length * 6, (y - ay) / length * 6
        corners = [(x, y), (x - ux - uy / 2, y - uy + ux / 2), (x - ux + uy / 2, y - uy - ux / 2)]
        made += f"<polygon points='{' '.join(f'{a:g},{b:g}' for a, b in corners)}' fill='#777'/>"
    return made
