"""Columns that no row of a tile sees, which the tile leaves out: half of causal attention.

A mask that a function makes of lengths alone is a constant of its program, so its elements are known for each
tile of rows. Outside a span of columns all are one number, and so is what steps make of them, their *tail*:
`where(mask, scores, -inf)` has the tail -inf, `exp(scores - largest)` has 0, and so has any product with it.
A tile may leave columns out where each reduction over them meets a tail that adds nothing: 0 in sums and
products of matrices, -inf in maxima.

invariant: a known tail says that each such element is that number, or NaN. NaN comes of unknown factors alone
that are not finite (`0 * inf`), so a result differs from the whole program's only where that has met NaN.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, Final, NamedTuple, final

import numpy as np

from operad_sdk.differentiate import Node
from operad_sdk.differentiate.made_up import is_elementwise, is_view
from operad_sdk.differentiate.walk import nodes_of
from operad_sdk.programs.axes import ROW, SUM, Cut, Graph
from operad_sdk.programs.stores import step_of

_UNIT: Final = 32
"""Columns of which a span's length is a multiple."""
_MOST_LENGTHS: Final = 8
"""Lengths of spans, each of which has a program."""
_IDENTITIES: Final = {"sum": 0.0, "max": -np.inf, "min": np.inf}

Tails = dict[Node, Any]
"""The tail of each node with columns; None: unknown."""


@final
class Seen(NamedTuple):
    """Columns that tiles compute.

    Attributes:
        axes: The axis of the columns of each node that has one.
        length: Of that axis.
        spans: For each tile its columns.
        tails: For each tile what the results with columns hold elsewhere.
    """

    axes: dict[Node, int]
    length: int
    spans: list[slice]
    tails: list[Tails]

    @property
    def share(self) -> float:
        """Share of the columns that tiles compute."""
        return sum(map(_length, self.spans)) / (self.length * len(self.spans))


def seen_columns(graph: Graph, cut: Cut, num_rows: int) -> Iterator[Seen]:
    """Ways to leave columns out of tiles of some rows."""
    wanted = graph.of_tiles(cut)
    given = {*graph.inputs, *cut.hoisted(wanted)}
    steps = graph.between(wanted, given)
    for axes in graph.classes():
        constants = [node for node in axes if node.step is None and node not in given]
        masks = [node for node in constants if cut.axes.get(node, axes[node]) != axes[node]]
        if not masks:
            continue
        length = masks[0].value.shape[axes[masks[0]]]
        found: dict[tuple[Any, ...], Tails | None] = {}
        unit = max(_UNIT, -(-length // _MOST_LENGTHS))
        spans, tails = list[slice](), list[Tails]()
        for begin in range(0, cut.length, num_rows):
            parts = {
                node: np.moveaxis(_rows(node, cut, begin, num_rows), axes[node], 0) for node in constants
            }
            spans.append(slice(0, length))
            tails.append({})
            for span in sorted(_spans([parts[mask] for mask in masks], unit), key=_length):
                known = {node: _outside(part, span) for node, part in parts.items()}
                key = tuple(known.values())
                if key not in found:
                    found[key] = _tails(graph, cut, steps, axes, known, wanted)
                if (made := found[key]) is not None:
                    spans[-1], tails[-1] = span, made
                    break
        if any(span != slice(0, length) for span in spans):
            yield Seen(axes, length, spans, tails)


def _length(span: slice) -> int:
    return int(span.stop - span.start)


def _rows(node: Node, cut: Cut, begin: int, num_rows: int) -> Any:
    axis = cut.axes.get(node)
    return node.value if axis is None else node.value[(*[slice(None)] * axis, slice(begin, begin + num_rows))]


def _spans(masks: Sequence[Any], unit: int) -> Iterator[slice]:
    """Spans outside which one of the masks has one number, its first or its last."""
    for mask in masks:
        length = len(mask)
        for number in (mask.flat[0], mask.flat[-1]):
            (places,) = np.nonzero((mask != number).reshape(length, -1).any(axis=1))
            first, last = (int(places[0]), int(places[-1])) if len(places) else (0, 0)
            start = first // unit * unit
            stop = min(start + -(-(last + 1 - start) // unit) * unit, length)
            if stop - start < length:
                yield slice(start, stop)


def _outside(part: Any, span: slice) -> Any:
    """The number that a constant has outside a span; None where it has several."""
    ends = [end for end in (part[: span.start], part[span.stop :]) if end.size]
    number = ends[0].flat[0]
    tried = (rows for end in ends for rows in (end[-1], end))  # one row tells most from a mask
    return number if all((rows == number).all() for rows in tried) else None


def _tails(
    graph: Graph, cut: Cut, steps: Sequence[Node], axes: dict[Node, int], known: Tails, wanted: Sequence[Node]
) -> Tails | None:
    """The tails of the results; None where one of the steps needs what is outside."""
    tails: Tails = {**dict.fromkeys(axes), **known}
    for node in steps:
        read = [one for one in nodes_of(step_of(node).args) if one in axes]
        pairs = graph.pairs[node]
        if node not in axes:
            if read and not _reduces(node, axes, tails):
                return None
            continue
        through = {one for one, other in pairs or () if other == (node, axes[node])}
        if not read or not all((one, axes[one]) in through for one in read):
            return None
        tails[node] = _carried(node, tails)
    results = {node: tails[node] for node in wanted if node in axes}
    for node, tail in results.items():
        if tail is None or (cut.kinds[node] == SUM and tail != 0):
            return None
    return {node: tail for node, tail in results.items() if cut.kinds[node] == ROW}


def _reduces(node: Node, axes: dict[Node, int], tails: Tails) -> bool:
    """Return whether a step reduces columns, of which those outside add nothing."""
    primitive, args, _ = step_of(node)
    if isinstance(primitive.form, str) and primitive.form in _IDENTITIES:
        return bool(tails[args[0]] == _IDENTITIES[primitive.form])
    if primitive.function is not np.matmul:
        return False
    a, b = args
    is_inner = axes.get(a) == a.value.ndim - 1 and axes.get(b) == b.value.ndim - 2
    return is_inner and 0 in (tails[a], tails[b])


def _carried(node: Node, tails: Tails) -> Any:
    """The tail of a step from those of its operands."""
    primitive, args, options = step_of(node)
    values = [_number(arg, tails) for arg in args]
    if is_view(primitive, args) or primitive.form in ("max", "min"):
        return values[0]
    if primitive.form == "sum" or primitive.function is np.matmul:
        return 0.0 if 0 in values[: 2 - (primitive.form == "sum")] else None
    if primitive.form == "where":
        condition, one, other = values
        if not isinstance(condition, np.bool_):
            return one if one == other else None
        return one if condition else other
    if not is_elementwise(primitive):
        return None
    if None in values:
        return _absorbed(primitive.function, values)
    choices = [_choices(arg, value) for arg, value in zip(args, values, strict=True)]
    with np.errstate(all="ignore"):
        first, *others = (np.ravel(primitive.function(*one, **options))[0] for one in product(*choices))
    return first if all(one == first or np.isnan(one) for one in others) else None


def _number(arg: Any, tails: Tails) -> Any:
    """The number that an operand is in all columns outside; None: unknown."""
    if isinstance(arg, Node):
        return tails.get(arg)
    return np.ravel(arg)[0] if isinstance(arg, np.ndarray) else arg  # of which all elements are one


def _absorbed(function: Any, values: Sequence[Any]) -> Any:
    """The tail of a step whose result does not depend on its unknown operand, but for NaN."""
    if (function is np.multiply and 0 in values) or (function is np.divide and values[0] == 0):
        return 0.0
    for sign, value in zip((1, -1 if function is np.subtract else 1), values, strict=False):
        if function in (np.add, np.subtract) and value is not None and np.isinf(value):
            return sign * value
    return None


def _choices(arg: Any, value: Any) -> list[Any]:
    """The numbers that a tail stands for: zeros of both signs, and NaN."""
    if not isinstance(arg, Node):
        return [arg]
    dtype = arg.value.dtype
    every = [value, *([-value] if value == 0 else ()), np.nan] if dtype.kind == "f" else [value]
    return [np.full(1, one, dtype) for one in every]
