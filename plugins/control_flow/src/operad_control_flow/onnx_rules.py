"""ONNX's graphs inside nodes as loops and branches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from operad.errors import UnsupportedError
from operad_control_flow import onnx_writing
from operad_control_flow.functions import cond, foreach, while_loop

_MOST_UNROLLED: Final = 64


def _symbols(node: Any, made: Sequence[Any]) -> list[Any]:
    return [node.const(one) if isinstance(one, np.ndarray) else one for one in made]


def _branch(node: Any) -> Any:
    """If: the branch that is taken where that is known, else both."""
    if node.is_const(0):
        return node.graph("then_branch" if node.scalar(0) else "else_branch")
    taken, other = (
        lambda name=name: _symbols(node, node.graph(name)) for name in ("then_branch", "else_branch")
    )
    return node.noted(cond(node.cast(node.sym(), "float32"), taken, other, name=node.name))


def _scan(node: Any) -> Any:
    """Scan: slices along axes of the last inputs, and states before them."""
    if node.opset >= 9:
        return _scanned(node, node.syms())
    if node.has(0):
        node.refuse("sequences of several lengths (sequence_lens) have no counterpart")
    wholes = node.syms(1)

    def one(slices: Any, _: Any) -> Any:
        pairs = zip(slices, wholes, strict=True)
        return _scanned(node, [node.stands_for(*pair, is_slice=True) for pair in pairs]), []

    return node.noted(foreach(one, wholes, [], name=node.name)[0])  # up to version 8: one of a batch


def _scanned(node: Any, symbols: Sequence[Any]) -> list[Any]:
    first = len(symbols) - node.attr("num_scan_inputs")
    states, data = symbols[:first], list(symbols[first:])
    turned = node.attr("scan_input_directions", node.attr("directions")) or [0] * len(data)
    for i, axis in enumerate(node.attr("scan_input_axes") or [0] * len(data)):
        order = list(range(len(node.lengths_of(data[i]))))
        order.insert(0, order.pop(axis))
        data[i] = _sliced(node, data[i], order, turned[i], 0)

    def step(slices: Any, carried: Any) -> Any:
        inside = [node.stands_for(*pair) for pair in zip(carried, states, strict=True)]
        inside += [node.stands_for(*pair, is_slice=True) for pair in zip(slices, data, strict=True)]
        made = _symbols(node, node.graph("body", *inside))
        return made[len(states) :], made[: len(states)]

    outputs, last = foreach(step, data, states, name=node.name)
    node.noted([*outputs, *last])
    turned = node.attr("scan_output_directions") or [0] * len(outputs)
    for i, axis in enumerate(node.attr("scan_output_axes") or [0] * len(outputs)):
        order = list(range(1, len(node.lengths_of(outputs[i]))))
        order.insert(axis % (len(order) + 1), 0)
        outputs[i] = _sliced(node, outputs[i], order, turned[i], order.index(0))
    return [*last, *outputs]


def _sliced(node: Any, symbol: Any, order: Sequence[int], is_back: int, axis: int) -> Any:
    """A symbol with its axes in another order, and from its end along one of them."""
    if list(order) != sorted(order):
        symbol = node.call("transpose", symbol, axes=tuple(order))
    return node.call("reverse", symbol, axis=axis) if is_back else symbol


def _loop(node: Any) -> Any:
    """Loop: a step for each number where their count is known, else while the condition holds."""
    if not node.has(0):
        node.refuse("the most steps that a loop takes must be known, and it gives none")
    most, states = node.scalar(0), node.syms(2)
    if most >= 2**31:
        node.refuse(f"the most steps that a loop takes must be known, and it gives {most}")
    if node.has(1) and not node.is_const(1) and _are_rows_filled(node, most, len(states)):
        return _while(node, most, states)
    if most == 0 or (node.has(1) and not node.scalar(1)):
        node.refuse("a loop without steps has no counterpart")
    numbers = node.const(np.arange(most), "int64")
    is_counted = True

    def step(number: Any, carried: Any) -> Any:
        nonlocal is_counted
        count = node.stands_for(number, numbers, is_slice=True)
        inside = [node.stands_for(*pair) for pair in zip(carried, states, strict=True)]
        again, *made = node.graph("body", count, np.array(True), *inside)
        is_counted = isinstance(again, np.ndarray) and bool(again)
        made = _symbols(node, made)
        if not any(number.name in one.list_inputs() for one in made):  # a loop reads what it goes over
            nothing = node.cast(node.call("_mul_scalar", count, scalar=0), node.dtype_of(made[0]))
            made[0] = node.call("broadcast_add", made[0], nothing)
        return made[len(states) :], made[: len(states)]

    try:
        outputs, last = foreach(step, numbers, states, name=node.name)
    except UnsupportedError:  # a step whose parameters follow from its number
        if most > _MOST_UNROLLED:
            raise
        return _unrolled(node, most, states)
    if not is_counted:
        return _while(node, most, states)
    node.noted([*outputs, *last])
    return [*last, *outputs]


def _unrolled(node: Any, most: int, states: Sequence[Any]) -> Any:
    """The steps one behind the other."""
    carried, rows = list(states), []
    for number in range(most):
        again, *made = node.graph("body", np.array(number), np.array(True), *carried)
        if not isinstance(again, np.ndarray):
            node.refuse("how many steps it takes follows from a condition, and a step from its number")
        carried, own = made[: len(states)], _symbols(node, made[len(states) :])
        rows.append([node.call("expand_dims", one, axis=0) for one in own])
        if not again:
            break
    stacked = [
        node.call("Concat", *each, dim=0) if len(each) > 1 else each[0] for each in zip(*rows, strict=True)
    ]
    return [*_symbols(node, carried), *stacked]


def _are_rows_filled(node: Any, most: int, first: int) -> bool:
    return all(node.are_rows_filled(index, most) for index in range(first, node.num_outputs))


def _while(node: Any, most: int, states: Sequence[Any]) -> Any:
    """Steps until the condition fails; rows of those that would come after it are 0, as here."""
    if not _are_rows_filled(node, most, len(states)):
        node.refuse(
            "how many rows its outputs have follows from a condition; a symbol must know that, so readers "
            f"must join them with {most} rows of zeros and take {most} of both"
        )
    begin = [
        node.const([0], "int64"),
        node.cast(node.sym(1), "float32") if node.has(1) else node.const([1], "float32"),
    ]
    begin[1] = node.reshape(begin[1], (1,))
    variables = [*begin, *states]

    def step(*carried: Any) -> Any:
        number, holds, *inside = (node.stands_for(*pair) for pair in zip(carried, variables, strict=True))
        again, *made = _symbols(node, node.graph("body", node.reshape(number, ()), np.array(True), *inside))
        again = node.call("elemwise_mul", node.reshape(node.cast(again, "float32"), (1,)), holds)
        after = [node.call("_plus_scalar", number, scalar=1), again, *made[: len(states)]]
        return made[len(states) :], after

    rows, last = while_loop(lambda number, holds, *_: holds * 1, step, variables, most, name=node.name)
    return [*node.noted([*rows, *last])[len(rows) + 2 :], *rows]


EXPORTS: Final = onnx_writing.EXPORTS
IMPORTS: Final[Mapping[str, Any]] = {"If": _branch, "Scan": _scan, "Loop": _loop}
