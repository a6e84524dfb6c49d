"""Facts of Gluon's behaviour, recorded under MXNet 1.9.1 as those of `behaviour.py` are.

`gluon/*.toml` has them by subject. A table `blocks` in such a file has one line for a block, its expression
and its inputs, of which each view of `gluon_probes.VIEWS` makes a fact. Arrays of more than a few elements
are recorded by shape, type and three means, and numbers with six digits.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from tests.conformance.recorded import behaviour, gluon_probes

HERE: Final = Path(__file__).parent
NAMES: Final = HERE / "gluon_api.json"
RECORD: Final = HERE / "gluon.json"
_TABLE: Final = tomllib.loads((HERE / "gluon_differences.toml").read_text(encoding="utf-8"))
_MOST_ELEMENTS: Final = 12
_DIGITS: Final = 6


def names() -> dict[str, dict[str, Any]]:
    """Names and signatures of each module of Gluon; paths below the home folder are this user's."""
    text = NAMES.read_text(encoding="utf-8").replace("'~/", f"'{Path.home()}/")
    found: dict[str, dict[str, Any]] = json.loads(text)
    return found


def facts() -> dict[str, str]:
    """The text of each fact, by `subject.name`, or `subject.block.view`."""
    return {
        f"{path.stem}.{name}": text
        for path in sorted((HERE / "gluon").glob("*.toml"))
        for name, text in _of(tomllib.loads(path.read_text(encoding="utf-8")))
    }


def _of(content: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in content.items():
        if isinstance(value, str):
            yield name, value
            continue
        for block, line in value.items():
            expression, _, inputs = line.partition(" | ")
            for view in gluon_probes.VIEWS:
                yield f"{block}.{view}", f"{view}(lambda: {expression}, lambda: [{inputs}])"


def record() -> dict[str, Any]:
    """Outcomes under MXNet, by fact."""
    found: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def rows() -> dict[str, str]:
    """The facts that differ on purpose, and the first cells of their rows in docs/differences.md."""
    return {fact: entry["row"] for entry in _TABLE["difference"] for fact in entry["facts"]}


def left_out() -> list[tuple[str, str, list[str]]]:
    """Kind, reason and names of what is left out or takes other calls."""
    kinds = ("absent", "signature")
    return [(kind, row["reason"], row["names"]) for kind in kinds for row in _TABLE.get(kind, [])]


def outcome(fact: str, text: str, mx: Any) -> Any:
    """Outcome of the text, in short; see `behaviour.outcome`."""
    with gluon_probes.fresh_names(mx):
        return _short(behaviour.outcome(fact, text, mx, gluon_probes.names(mx)))


def _short(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, list):
        return [_short(one) for one in value]
    if not isinstance(value, dict):
        return value
    kind = next((name for name in ("NDArray", "ndarray") if name in value), None)
    if kind is None or np.size(value[kind]) <= _MOST_ELEMENTS:
        return {name: _short(one) for name, one in value.items()}
    array = np.asarray(value[kind], np.float64)
    # The third changes where elements change places.
    weights = np.cos(np.arange(array.size))
    means = [array.mean(), np.abs(array).mean(), (array.ravel() * weights).mean()]
    return {kind: _short([float(one) for one in means]), "shape": list(array.shape), "dtype": value["dtype"]}
