"""Metrics by name, as `create("acc")` finds them."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable
from typing import Any, Final, TypeVar

from operad.errors import ParamError
from operad_metric.metric import EvalMetric

C = TypeVar("C", bound="type[EvalMetric]")

_classes: Final[dict[str, type[EvalMetric]]] = {}


def register(klass: C, name: str | None = None) -> C:
    """Make a metric known to `create`, by its class's name unless one is given, in any case.

    Raises:
        ParamError: It is no metric.
    """
    if not issubclass(klass, EvalMetric):
        raise ParamError(f"register: {klass.__name__} is no metric; derive it from operad.metric.EvalMetric")
    _classes[(name or klass.__name__).lower()] = klass
    return klass


def alias(*aliases: str) -> Callable[[C], C]:
    """Make a metric known by other names, too; for use as a decorator."""

    def aliased(klass: C) -> C:
        for name in aliases:
            register(klass, name)
        return klass

    return aliased


def found(name: str) -> type[EvalMetric]:
    """The metric of that name, in any case.

    Raises:
        ParamError: There is none.
    """
    if name.lower() in _classes:
        return _classes[name.lower()]
    close = difflib.get_close_matches(name.lower(), _classes, n=1)
    advice = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(sorted(_classes))}"
    raise ParamError(f"unknown metric {name!r}; {advice}")


def described(config: Any) -> tuple[str, list[Any], dict[str, Any]]:
    """Name and arguments in what `get_config` returns, or in the JSON text of that or of a list.

    Raises:
        ParamError: It describes no metric.
    """
    is_json = isinstance(config, str) and config[:1] in {"[", "{"}
    try:
        given = json.loads(config) if is_json else config
    except (ValueError, RecursionError) as error:
        raise ParamError(f"metric {config!r:.200}: this is not JSON: {error}") from error
    if isinstance(given, str):
        return given, [], {}
    if isinstance(given, dict) and isinstance(given.get("metric"), str):
        return given["metric"], [], {key: value for key, value in given.items() if key != "metric"}
    if isinstance(given, list) and given and isinstance(given[0], str) and isinstance(given[-1], dict):
        return given[0], given[1:-1], given[-1]
    raise ParamError(
        f"metric: got {config!r}, expected a name, a function of labels and predictions, a metric, or a list "
        "of these"
    )
