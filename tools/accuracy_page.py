"""`docs/accuracy.md`, made of the figures of `tools.accuracy` and of sums along long axes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

BEGIN: Final = "<!-- written by `python -m tools.accuracy`, do not edit below -->"
WAYS: Final = ("plain", "compiled", "mxnet", "torch")
_TITLES: Final = {"plain": "plain", "compiled": "compiled", "mxnet": "MXNet", "torch": "PyTorch"}
_EXACT: Final = 0.05
"""Units below which an error is shown as 0."""
_MOST: Final = 20
"""Rows of the first table."""

Kept = Mapping[str, Mapping[str, Sequence[float]]]
Sums = Mapping[str, Mapping[str, float]]


def tables(figures: Kept, sums: Sums, machine: str) -> str:
    """The page below `BEGIN`."""
    return "\n".join(
        [
            BEGIN,
            "",
            f"Figures of {len(figures)} operators, with {machine}.",
            "The others draw random numbers, give no floating result, or have no true values.",
            "",
            "## Sums of long axes",
            "",
            "Largest relative error over axes of 64 to a million, of equal, random and large numbers.",
            "",
            *_of_sums(sums),
            "",
            f"## The {_MOST} largest",
            "",
            "In units of the largest true value of the array, of ordinary cases in single precision.",
            "",
            *_worst(figures),
            "",
            *_all(figures, "float32"),
            "",
            *_all(figures, "float64"),
        ]
    )


def _of_sums(sums: Sums) -> Iterator[str]:
    yield from _head(("operator", "type", *(_TITLES[way] for way in WAYS[:2])))
    for name, ways in sorted(sums.items()):
        yield _row((*name.rsplit(" ", 1), *(f"{ways[way]:.1e}" if way in ways else "" for way in WAYS[:2])))


def _worst(figures: Kept) -> Iterator[str]:
    rows = sorted(_rows(figures, "float32", "ordinary"), key=lambda row: -_at(row[2], "plain", 1))
    yield from _head(("operator", "part", *(_TITLES[way] for way in WAYS)))
    for name, part, found in rows[:_MOST]:
        yield _row((f"`{name}`", part, *(_shown(found, way, 1) for way in WAYS)))


def _all(figures: Kept, dtype: str) -> Iterator[str]:
    yield f"## Every operator in {dtype}"
    yield ""
    exact = [name for name in sorted(figures, key=str.lower) if _is_exact(figures[name], dtype)]
    yield "Each cell: units of the true value, and of the largest of its array. Exact parts are left out;"
    yield f"wholly exact are {', '.join(f'`{name}`' for name in exact)}."
    yield ""
    cases = ("ordinary", "tails")
    yield from _head(("operator", "part", "cases", *(_TITLES[way] for way in WAYS)))
    for name in sorted(figures, key=str.lower):
        for words in cases:
            for _, part, found in _rows({name: figures[name]}, dtype, words):
                if max(map(max, found.values())) < _EXACT:
                    continue
                cells = [
                    f"{_shown(found, way, 0)}, {_shown(found, way, 1)}" if way in found else ""
                    for way in WAYS
                ]
                yield _row((f"`{name}`", part, words, *cells))


def _is_exact(own: Mapping[str, Sequence[float]], dtype: str) -> bool:
    errors = [max(pair) for key, pair in own.items() if key.split()[-3] == dtype]
    return bool(errors) and max(errors) < _EXACT


def _rows(figures: Kept, dtype: str, cases: str) -> list[tuple[str, str, dict[str, Sequence[float]]]]:
    """Operators and parts with what each way has."""
    found: dict[tuple[str, str], dict[str, Sequence[float]]] = {}
    for name, own in figures.items():
        for key, pair in own.items():
            part, kind, words, way = key.rsplit(" ", 3)
            if (kind, words) == (dtype, cases):
                found.setdefault((name, part), {})[way] = pair
    return [(name, part, ways) for (name, part), ways in found.items()]


def _at(found: Mapping[str, Sequence[float]], way: str, place: int) -> float:
    return found[way][place] if way in found else 0.0


def _shown(found: Mapping[str, Sequence[float]], way: str, place: int) -> str:
    if way not in found:
        return ""
    value = found[way][place]
    return f"{value:.1f}" if value < 1000 else f"{value:.0e}".replace("e+0", "e").replace("e+", "e")


def _head(titles: Sequence[str]) -> Iterator[str]:
    yield _row(titles)
    yield _row(["---"] * len(titles))


def _row(cells: Sequence[Any]) -> str:
    return f"| {' | '.join(map(str, cells))} |"
