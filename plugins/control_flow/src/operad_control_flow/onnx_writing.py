"""Loops and branches as ONNX nodes with graphs inside: Scan, Loop and If.

Arguments that are the same in all steps are read by name, which graphs inside nodes may do. Only slices and
states are inputs of such a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

_BOOL: Final = np.dtype(np.bool_)
_INT64: Final = np.dtype(np.int64)


def _inside(node: Any, part: int, own: Mapping[int, Any]) -> list[Any]:
    """Values of a subgraph's inputs: `own` by number, else arguments."""
    sources = enumerate(node.op.sources[part])
    return [own[n] if n in own else node.value(source.argument) for n, source in sources]


def _truth(node: Any, value: Any) -> Any:
    """A condition of one element, as ONNX has it: bool, without axes."""
    name = node.add("Reshape", node.truth(value.name), node.ints())
    return value._replace(name=name, spec=value.spec._replace(lengths=(), dtype=_BOOL))


def _added(node: Any, kind: str, *inputs: str, **attrs: Any) -> list[str]:
    """Names of the outputs of a node that has as many as the operator."""
    made = node.add(kind, *inputs, outputs=node.op.num_outputs, **attrs)
    return [made] if isinstance(made, str) else list(made)


def _turned(made: Sequence[Any], count: int) -> list[Any]:
    """The first `count` behind the others: here rows come before states, in ONNX states before rows."""
    return [*made[count:], *made[:count]]


def _if(node: Any) -> list[str]:
    (found,) = node.inline(node.op.parts[0].graph, _inside(node, 0, {}))
    branches = {
        name: node.graph(name, [], lambda _, part=part: _branch(node, part))
        for part, name in ((1, "then_branch"), (2, "else_branch"))
    }
    return _added(node, "If", _truth(node, found).name, **branches)


def _branch(node: Any, part: int) -> list[Any]:
    made: list[Any] = node.inline(node.op.parts[part].graph, _inside(node, part, {}))
    return made


def _scan(node: Any) -> list[str]:
    op = node.op
    states = [node.value(argument) for argument in op.state_arguments]
    sliced = {n: _rows(node, source.argument) for n, source in enumerate(op.sources[0]) if source.is_sliced}
    slices = [one._replace(spec=one.spec._replace(lengths=one.spec.lengths[1:])) for one in sliced.values()]

    def step(values: Sequence[Any]) -> list[Any]:
        own = dict(zip([*op.states, *sliced], values, strict=True))
        return _turned(node.inline(op.body.graph, _inside(node, 0, own)), op.num_out_data)

    body = node.graph("body", [*states, *slices], step)
    names = [value.name for value in (*states, *sliced.values())]
    return _turned(_added(node, "Scan", *names, body=body, num_scan_inputs=len(sliced)), len(states))


def _rows(node: Any, argument: int) -> Any:
    """An array whose slices have an axis at least, as here."""
    value = node.value(argument)
    if len(value.spec.lengths) > 1:
        return value
    spec = value.spec._replace(lengths=(*value.spec.lengths, (1, 1)))
    return value._replace(name=node.unsqueeze(value.name, 1), spec=spec)


def _loop(node: Any) -> list[str]:
    op = node.op
    states = [node.value(argument) for argument in op.state_arguments]

    def holds(values: Sequence[Any]) -> Any:
        state_of = dict(zip(op.state_arguments, values, strict=True))
        given = [state_of.get(argument) or node.value(argument) for argument, _ in op.sources[0]]
        return _truth(node, node.inline(op.parts[0].graph, given)[0])

    def step(values: Sequence[Any]) -> list[Any]:
        own = dict(zip(op.states, values[2:], strict=True))
        made = _turned(node.inline(op.body.graph, _inside(node, 1, own)), op.num_out_data)
        return [holds(made[: len(states)]), *made]

    first = holds(states)
    number = first._replace(name="step", spec=first.spec._replace(dtype=_INT64))
    body = node.graph("body", [number, first._replace(name="holds"), *states], step)
    # Rows that no step wrote are 0. They are made first, for a reader that must know them at the loop.
    zeros = [
        node.add("Expand", node.const(0, node.out_dtypes[index]), node.out_shape(index))
        for index in range(op.num_out_data)
    ]
    most = op.max_iterations
    names = [node.ints_scalar(most), *(value.name for value in (first, *states))]
    made = _turned(_added(node, "Loop", *names, body=body), len(states))
    rows = [node.add("Concat", *pair, axis=0) for pair in zip(made, zeros, strict=False)]
    return [*(node.slice(both, (0,), (most,), (0,)) for both in rows), *made[op.num_out_data :]]


EXPORTS: Final[Mapping[str, Callable[[Any], list[str]]]] = {
    "_cond": _if, "_foreach": _scan, "_while_loop": _loop,
}  # fmt: skip
