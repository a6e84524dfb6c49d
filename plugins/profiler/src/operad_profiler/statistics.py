"""What was recorded as a table: one line for each name."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from operad.errors import ParamError
from operad_profiler.recording import Run, config, forget, runs

_COLUMNS: Final = ("count", "total", "min", "max", "avg")


def dumps(reset: bool = False, format: str = "table", sort_by: str = "total", ascending: bool = False) -> str:
    """Statistics of what was recorded, one line or object for each name; times in milliseconds.

    Args:
        reset: Whether to forget what was recorded.
        format: "table" or "json".
        sort_by: "total", "avg", "min", "max" or "count".
        ascending: Whether the smallest comes first.

    Raises:
        ParamError: An argument is none of these, or `aggregate_stats` was not configured.
    """
    if not config["aggregate_stats"]:
        raise ParamError("profiler.dumps needs profiler.set_config(aggregate_stats=True)")
    if format not in ("table", "json") or sort_by not in _COLUMNS:
        raise ParamError(
            f"profiler.dumps: format is {format!r} and sort_by {sort_by!r}, "
            f"expected 'table' or 'json' and one of {', '.join(_COLUMNS)}"
        )
    found = sorted(_statistics(runs).items(), key=lambda item: item[1][sort_by], reverse=not ascending)
    if reset:
        forget()
    if format == "json":
        return json.dumps(dict(found), indent=4)
    lines = [f"{'name':<40}" + "".join(f"{column:>12}" for column in _COLUMNS)]
    for name, figures in found:
        times = "".join(f"{figures[column]:>12.4f}" for column in _COLUMNS[1:])
        lines.append(f"{name:<40}{figures['count']:>12}{times}")
    return "\n".join(lines)


def _statistics(recorded: Iterable[Run]) -> dict[str, dict[str, float]]:
    times: dict[str, list[float]] = {}
    for run in recorded:
        times.setdefault(run.name, []).append((run.stop_s - run.start_s) * 1e3)
    return {
        name: {
            "count": len(each),
            "total": sum(each),
            "min": min(each),
            "max": max(each),
            "avg": sum(each) / len(each),
        }
        for name, each in times.items()
    }
