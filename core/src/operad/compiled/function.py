"""`od.compile`: a function of arrays as compiled programs."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, final

from operad.compiled.graph_function import GraphFunction
from operad.compiled.trace import Trace
from operad.device import current_context
from operad.errors import ArgumentError
from operad.imperative import TRACING, Array, local
from operad.ndarray import NDArray

MAX_TRACES: Final = 64


@final
class _Leaf(NamedTuple):
    """Stands for an array in a structure."""

    kind: str
    index: Any


def _flat(value: Any, arrays: list[NDArray]) -> Any:
    """Hashable structure of nested lists, tuples and dicts; arrays go into `arrays`."""
    if isinstance(value, NDArray):
        arrays.append(value)
        return NDArray
    if isinstance(value, (list, tuple)):
        return (type(value), *[_flat(one, arrays) for one in value])
    if isinstance(value, dict):
        return (dict, *[(name, _flat(one, arrays)) for name, one in value.items()])
    return (None, type(value), repr(value) if isinstance(value, float) else value, value)


def _nested(structure: Any, leaves: Any) -> Any:
    """What `_flat` took apart, with other leaves."""
    if structure is NDArray:
        return next(leaves)
    kind, *rest = structure
    if kind is None:
        return rest[2]
    if kind is dict:
        return {name: _nested(one, leaves) for name, one in rest}
    made = [_nested(one, leaves) for one in rest]
    return made if kind is list else kind(*made) if hasattr(kind, "_fields") else kind(made)


class _Traced(NamedTuple):
    """Result of one trace.

    Attributes:
        run: Computes the results; None where there is nothing to compute.
        captured: Arrays that it takes behind the arguments.
        structure: Of what the function returned.
        leaves: Where each array of that comes from: the number of a result, an argument, or an array itself.
    """

    run: GraphFunction | None
    captured: Sequence[Array]
    structure: Any
    leaves: Sequence[_Leaf]


@final
class CompiledFunction:
    """A function of arrays, compiled when it is called; made by `od.compile`."""

    def __init__(self, function: Callable[..., Any], create_graph: bool = False) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._create_graph = create_graph
        self._traces: dict[Any, _Traced] = {}
        self._log: list[str] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        thread = local.state
        mode = thread.mode
        if mode >= TRACING:
            return self._function(*args, **kwargs)
        arrays: Any = args
        structure: Any = len(args)
        if kwargs or any([x.__class__ is not NDArray for x in args]):
            arrays = []
            structure = _flat((args, kwargs), arrays)
        key = (structure, mode, current_context(), *[x._spec for x in arrays])
        found = self._traces.get(key)
        if found is None:
            found = self._trace(key, structure, arrays)
        results = [] if found.run is None else found.run((*arrays, *found.captured), mode)
        if found.structure is NDArray and found.leaves[0].kind == "result":
            return results[0]
        sources = {"result": results, "argument": arrays}
        leaves = [leaf.index if leaf.kind == "array" else sources[leaf.kind][leaf.index] for leaf in found.leaves]
        return _nested(found.structure, iter(leaves))

    def _trace(self, key: Any, structure: Any, arrays: Sequence[NDArray]) -> _Traced:
        begun_s = time.perf_counter()
        title = self.__name__
        ctx = arrays[0]._spec.ctx if arrays else current_context()
        trace = Trace(title, [x._spec for x in arrays], ctx)

        def body(arguments: Sequence[Any]) -> Any:
            if structure.__class__ is int:
                return self._function(*arguments)
            args, kwargs = _nested(structure, iter(arguments))
            return self._function(*args, **kwargs)

        returned: list[Any] = []
        shape = _flat(trace.run(body), returned)
        given = {id(x): i for i, x in enumerate(trace.arguments)}
        outputs = list({id(x): x for x in returned if trace.is_own(x)}.values())
        numbers = {id(x): i for i, x in enumerate(outputs)}
        leaves = [
            _Leaf("result", numbers[id(x)]) if id(x) in numbers
            else _Leaf("argument", given[id(x)]) if id(x) in given
            else _Leaf("array", x)
            for x in returned
        ]  # fmt: skip
        graph = trace.graph(outputs)
        run = None
        if graph.outputs:
            run = GraphFunction(graph, trace.variables, ctx, title, self._log, self._create_graph)
        self._log.append(
            f"traced {title} in {(time.perf_counter() - begun_s) * 1e3:.1f} ms: {len(graph.op_nodes)} operators, "
            f"{len(arrays)} arguments, {len(trace.captured)} captured arrays"
        )
        if len(self._traces) >= MAX_TRACES:
            del self._traces[next(iter(self._traces))]
        found = self._traces[key] = _Traced(run, trace.captured, shape, leaves)
        return found

    def why(self) -> str:
        """What was traced and compiled, and why, line by line."""
        return "\n".join(self._log)


def compile(  # noqa: A001 - the name that users know
    function: Callable[..., Any] | None = None, *, create_graph: bool = False) -> Any:
    """Compile."""
    if function is None:
        return functools.partial(compile, create_graph=create_graph)
    return CompiledFunction(function, create_graph)
