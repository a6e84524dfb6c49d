"""Tables of the records: a line for each name, and one for each node with the shares of threads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from operad.errors import ParamError
from operad_profiler.nodes import NodeTable, node_table
from operad_profiler.recording import Run, config, forget, is_full, node_runs, runs, window_s
from operad_profiler.spans import Span, spans_of

_COLUMNS: Final = ("count", "total", "min", "max", "avg")
_FORMATS: Final = ("table", "json", "nodes")

Figures = dict[str, float]


def dumps(reset: bool = False, format: str = "table", sort_by: str = "total", ascending: bool = False) -> str:
    """Statistics of what was recorded, for each name and for each node; times in milliseconds.

    Args:
        reset: Whether to forget what was recorded.
        format: "table" or "json"; "nodes" for the table of nodes alone.
        sort_by: "total", "avg", "min", "max" or "count".
        ascending: Whether the smallest comes first.

    Raises:
        ParamError: An argument is none of these, or `aggregate_stats` was not configured.
    """
    if not config["aggregate_stats"]:
        raise ParamError("profiler.dumps needs profiler.set_config(aggregate_stats=True)")
    if format not in _FORMATS or sort_by not in _COLUMNS:
        raise ParamError(
            f"profiler.dumps: format is {format!r} and sort_by {sort_by!r}, "
            f"expected one of {', '.join(_FORMATS)} and one of {', '.join(_COLUMNS)}"
        )
    recorded, by_segment, window, was_full = list(runs), list(node_runs), window_s(), is_full()
    if reset:
        forget()
    found = spans_of(recorded, by_segment)
    nodes = node_table(found, window)
    nodes.sort(lambda row: row.figures()[sort_by], ascending)
    if was_full:
        nodes.title += f"; recording ended after max_events={config['max_events']}"
    if format == "nodes":
        return nodes.text()
    times = _by_category(recorded, [span for spans in found.values() for span in spans])
    by_name = _statistics(times, lambda figures: figures[sort_by], ascending)
    return _json(by_name, nodes) if format == "json" else _text(by_name, nodes)


def _json(by_name: dict[str, dict[str, Figures]], nodes: NodeTable) -> str:
    """JSON in MXNet's structure, with the nodes and threads beside it."""
    found: dict[str, Any] = {
        "Time": {
            category: {
                name: {column.title(): value for column, value in figures.items()}
                for name, figures in names.items()
            }
            for category, names in by_name.items()
        },
        "Memory": {},
        "Unit": {"Time": "ms", "Memory": "kB"},
        **nodes.as_dict(),
    }
    return json.dumps(found, indent=4)


def _text(by_name: dict[str, dict[str, Figures]], nodes: NodeTable) -> str:
    lines = []
    for category, names in by_name.items():
        lines.append(f"{category:<40}" + "".join(f"{column:>12}" for column in _COLUMNS))
        for name, figures in names.items():
            times = "".join(f"{figures[column]:>12.4f}" for column in _COLUMNS[1:])
            lines.append(f"{name:<40}{figures['count']:>12}{times}")
        lines.append("")
    return "\n".join([*lines, nodes.text()])


def _by_category(recorded: Iterable[Run], spans: Iterable[Span]) -> dict[str, dict[str, list[float]]]:
    """The durations in milliseconds of all that has one name, by category and name.

    Nodes count under their operators, as in MXNet; the operations that they are part of are apart.
    """
    found: dict[str, dict[str, list[float]]] = {}

    def note(category: str, name: str, start_s: float, stop_s: float) -> None:
        found.setdefault(category, {}).setdefault(name, []).append((stop_s - start_s) * 1e3)

    for span in spans:
        what = span.what
        if isinstance(what, Run):
            note("segment" if span.is_segment else what.category, what.name, span.start_s, span.stop_s)
        else:
            name = f"_backward_{what.operator}" if what.is_backward else what.operator
            note("operator", name, span.start_s, span.stop_s)
    for run in recorded:
        if run.device is None:
            note(run.category, run.name, run.start_s, run.stop_s)
    return found


def _statistics(
    times: dict[str, dict[str, list[float]]], order: Callable[[Figures], float], ascending: bool
) -> dict[str, dict[str, Figures]]:
    found = {}
    for category, names in times.items():
        rows = [(name, _figures(each)) for name, each in names.items()]
        rows.sort(key=lambda row: order(row[1]), reverse=not ascending)
        found[category] = dict(rows)
    return found


def _figures(each: Sequence[float]) -> Figures:
    return {
        "count": len(each),
        "total": sum(each),
        "min": min(each),
        "max": max(each),
        "avg": sum(each) / len(each),
    }
