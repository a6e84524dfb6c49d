"""Reductions as ONNX nodes, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

Rule = str | Callable[[Any], Any]


def _axes(axis: Any, rank: int, *, exclude: bool = False) -> list[int]:
    """Axes of a reduction, from 0 on; all where none is named."""
    if axis is None or axis == ():
        return list(range(rank))
    named = {each % rank for each in ((axis,) if isinstance(axis, int) else axis)}
    return [each for each in range(rank) if (each in named) is not exclude]


def _reduced(node: Any, kind: str, value: str, axes: list[int], keepdims: bool) -> Any:
    """A reduction, of all axes to the shape (1,)."""
    rank = len(node.shapes[0])
    if not axes:
        return node.add("Identity", value)
    if len(axes) == rank and not keepdims:
        return node.add("Reshape", node.reduce(kind, value, None, keepdims=False), node.ints(1))
    return node.reduce(kind, value, axes, keepdims=keepdims)


def _over(kind: str, *, zero_nan: float | None = None) -> Callable[[Any], Any]:
    def rule(node: Any) -> Any:
        op, value = node.op, node.inputs[0]
        if zero_nan is not None:
            value = node.add("Where", node.add("IsNaN", value), node.const(zero_nan), value)
        return _reduced(
            node, kind, value, _axes(op.axis, len(node.shapes[0]), exclude=op.exclude), op.keepdims
        )

    return rule


def _norm(node: Any) -> Any:
    """The L1 or L2 norm."""
    kind = {1: "ReduceL1", 2: "ReduceL2"}[node.op.ord]
    made = _reduced(node, kind, node.inputs[0], _axes(node.op.axis, len(node.shapes[0])), node.op.keepdims)
    return made if node.out_dtypes[0] == node.dtypes[0] else node.cast(made, node.out_dtypes[0])


def _moments(node: Any) -> Any:
    """Mean and variance."""
    data, axes = node.inputs[0], _axes(node.op.axes, len(node.shapes[0]))
    mean = node.reduce("ReduceMean", data, axes)
    centred = node.add("Sub", data, mean)
    variance = _reduced(node, "ReduceMean", node.add("Mul", centred, centred), axes, node.op.keepdims)
    return _reduced(node, "ReduceMean", data, axes, node.op.keepdims), variance


def _arg(kind: str) -> Callable[[Any], Any]:
    def rule(node: Any) -> Any:
        op, data = node.op, node.inputs[0]
        axis, keep = getattr(op, "axis", 1), int(getattr(op, "keepdims", False))
        if axis is None:
            found = node.add(kind, node.add("Reshape", data, node.ints(-1)), axis=0, keepdims=1)
            shape = (1,) * len(node.shapes[0]) if keep else (1,)
            found = node.add("Reshape", found, node.ints(*shape))
        elif len(node.shapes[0]) == 1 and not keep:
            found = node.add(kind, data, axis=0, keepdims=1)
        else:
            found = node.add(kind, data, axis=axis, keepdims=keep)
        return node.cast(found, node.out_dtypes[0])

    return rule


def _run(kind: str, since: int) -> Callable[[Any], Any]:
    """A run along an axis; of all elements in order without an axis."""

    def rule(node: Any) -> Any:
        if node.opset < since:
            node.refuse(f"ONNX has {kind} from opset {since} on")
        value, axis = node.inputs[0], node.op.axis
        value = value if axis is not None else node.add("Reshape", value, node.ints(-1))
        if node.out_dtypes[0] != node.dtypes[0]:
            value = node.cast(value, node.out_dtypes[0])
        return node.add(kind, value, node.const(axis or 0, "int64"))

    return rule


_SAME: Final = {name: f"Reduce{name.title()}" for name in ("sum", "mean", "max", "min", "prod")}
"""Operators of ONNX that do what ours do."""

EXPORTS: Final[Mapping[str, Rule]] = {
    **{name: _over(kind) for name, kind in _SAME.items()},
    "nansum": _over("ReduceSum", zero_nan=0),
    "nanprod": _over("ReduceProd", zero_nan=1),
    "norm": _norm,
    "moments": _moments,
    "argmax": _arg("ArgMax"),
    "argmin": _arg("ArgMin"),
    "argmax_channel": _arg("ArgMax"),
    "cumsum": _run("CumSum", 11),
    "cumprod": _run("CumProd", 26),
}


def _reduction(operator: str, before: Any = None, after: Any = None, **params: Any) -> Callable[[Any], Any]:
    """A reduction: axes are an attribute in older versions and an input in newer ones."""

    def rule(node: Any) -> Any:
        axes, keep, rank = node.ints("axes", 1), bool(node.attr("keepdims", 1)), node.rank()
        data = node.sym() if before is None else before(node, node.sym())
        if not axes and node.attr("noop_with_empty_axes", 0):
            return data if after is None else after(node, data)
        if rank == 0:
            made = data
        else:
            made = node.call(operator, data, axis=axes or tuple(range(rank)), keepdims=keep, **params)
            if not keep and len(axes or range(rank)) == rank:
                made = node.reshape(made, ())
        return made if after is None else after(node, made)

    return rule


def _does(operator: str) -> Callable[[Any, Any], Any]:
    return lambda node, symbol: node.call(operator, symbol)


def _log_sum_exp(node: Any) -> Any:
    """`m + log(sum(exp(x - m)))` with the largest element m."""
    axes = node.ints("axes", 1) or tuple(range(node.rank()))
    largest = node.call("max", node.sym(), axis=axes, keepdims=True)
    shifted = node.call("exp", node.call("broadcast_sub", node.sym(), largest))
    total = node.call("log", node.call("sum", shifted, axis=axes, keepdims=True))
    found = node.call("elemwise_add", total, largest)
    if node.attr("keepdims", 1):
        return found
    return node.call("squeeze", found, axis=axes) if len(axes) < node.rank() else node.reshape(found, ())


def _chosen(operator: str) -> Callable[[Any], Any]:
    def rule(node: Any) -> Any:
        keep, axis, data = bool(node.attr("keepdims", 1)), node.axis(0), node.sym()
        if node.attr("select_last_index", 0):
            last = node.shape()[axis] - 1
            data = node.call("reverse", data, axis=axis)
            found = node.call(operator, data, axis=axis, keepdims=keep)
            return node.cast(node.call("_rminus_scalar", found, scalar=last), "int64")
        found = node.cast(node.call(operator, data, axis=axis, keepdims=keep), "int64")
        return node.reshape(found, ()) if not keep and node.rank() == 1 else found

    return rule


def _cumulated(operator: str, first: float) -> Callable[[Any], Any]:
    """A run along an axis, with `reverse` from the end, with `exclusive` without the element itself."""

    def rule(node: Any) -> Any:
        axis, data = int(node.scalar(1)) % node.rank(), node.sym()
        data = node.call("reverse", data, axis=axis) if node.attr("reverse", 0) else data
        if node.attr("exclusive", 0):
            pads = [(1, -1) if each == axis else (0, 0) for each in range(node.rank())]
            data = node.pad(data, pads, first)
        made = node.call(operator, data, axis=axis)
        return node.call("reverse", made, axis=axis) if node.attr("reverse", 0) else made

    return rule


IMPORTS: Final[Mapping[str, Rule]] = {
    **{kind: _reduction(name) for name, kind in _SAME.items()},
    "ReduceL1": _reduction("sum", before=_does("abs")),
    "ReduceL2": _reduction("sum", before=_does("square"), after=_does("sqrt")),
    "ReduceSumSquare": _reduction("sum", before=_does("square")),
    "ReduceLogSum": _reduction("sum", after=_does("log")),
    "ReduceLogSumExp": _log_sum_exp,
    "ArgMax": _chosen("argmax"),
    "ArgMin": _chosen("argmin"),
    "CumSum": _cumulated("cumsum", 0),
    "CumProd": _cumulated("cumprod", 1),
}
