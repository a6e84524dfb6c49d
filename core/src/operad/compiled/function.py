"""`od.compile`: a function of arrays as compiled programs.

A function is traced for each kind of call: the structure of its arguments, their shapes and types, what is no
array, and the thread's mode. Each trace has a program for each set of gradients that is wanted of it.
"""

from __future__ import annotations

import functools
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from time import perf_counter
from types import MappingProxyType, MethodType
from typing import Any, Final, final

from operad import imperative, registry
from operad.compiled.layout import Layout
from operad.compiled.numbers import TracedNumber
from operad.compiled.operator import CompiledProperty
from operad.compiled.trace import Trace
from operad.config import settings
from operad.device import Context, current_context
from operad.errors import ArgumentError
from operad.executor.prepared import PreparedArray, PreparedArrays
from operad.graph import Entry, Graph, OpNode, Variable
from operad.ndarray import NDArray
from operad.op import OperatorProperty

_MOST_KEPT: Final = 64
"""Traces that a function keeps, programs that a trace keeps, and lines of a report."""


Hook = tuple[Callable[[str, str, Any], object], bool]
"""Called with name, operator and array for each result inside; and whether for what is read, too."""

_Compiled = tuple[imperative.Plan, Sequence[int], Sequence[NDArray], PreparedArrays | None]

_installed: Final = registry.follow(dict[str, tuple[object, list[Any]]]())
"""Has an object for what is installed, which is another one when that has changed, and names of settings."""


def _surroundings() -> tuple[Any, ...]:
    """Return what is installed and what the environment says to it, whose own table decodes nothing."""
    if (known := _installed.get("")) is None:
        names = [os.fsencode(name) for name in registry.entry_names("operad.settings")]
        known = _installed.setdefault("", (object(), names))
    found, names = known
    return (found, *map(os.environ._data.get, names))  # type: ignore[attr-defined]


def _flat(value: Any, arrays: list[Any], floats: list[Any]) -> Any:
    """Structure of nested lists, tuples and dicts, as a key; arrays and floats go into lists."""
    if isinstance(value, NDArray):
        arrays.append(value)
        return NDArray
    if value.__class__ is float:
        floats.append(value)
        return float
    if isinstance(value, (list, tuple)):
        return (type(value), *[_flat(one, arrays, floats) for one in value])
    if isinstance(value, dict):
        return (dict, *[(name, _flat(one, arrays, floats)) for name, one in value.items()])
    return (None, imperative.cache_key(value), value)


def _nested(structure: Any, arrays: Iterator[Any], floats: Iterator[Any]) -> Any:
    """Put together what `_flat` took apart, with other leaves."""
    if structure is NDArray or structure is float:
        return next(arrays if structure is NDArray else floats)
    kind, *rest = structure
    if kind is None:
        return rest[1]
    if kind is dict:
        return {name: _nested(one, arrays, floats) for name, one in rest}
    made = [_nested(one, arrays, floats) for one in rest]
    return kind(*made) if hasattr(kind, "_fields") else kind(made)


def _prepared(layout: Layout, given: Mapping[str, imperative.Array]) -> tuple[list[NDArray], PreparedArrays]:
    """Arrays that kernels prepare of captured ones, kept from call to call.

    Args:
        given: The arrays of a call, by name.
    """
    program = layout.program
    arrays = {entry: given[name] for name, entry in program.variables.items() if name in given}
    made, found, fills = [], [], {}
    for node_id in layout.preparations:
        node, read = program.graph.nodes[node_id], [arrays[e] for e in program.graph.input_ids[node_id]]
        assert isinstance(node, OpNode)
        array = NDArray._new(program.spec(program.entry_range(node_id).start))
        plan = imperative.Plan(node.op, [x._spec for x in read], array._spec.ctx, False)
        fills[node_id] = functools.partial(plan.compute, read, [array], into_given=True)
        made.append(array)
        found.append(PreparedArray(node_id, [x._chunk for x in read], array._chunk.var))
    return made, PreparedArrays(found, lambda node_ids: [fills[node_id]() for node_id in node_ids])


@final
class _Traced:
    """Result of a trace, and its programs.

    Args:
        trace: The trace.
        returned: What the function returned.
        keeps_arguments: See `CompiledProperty`.
        report: Takes lines about what is compiled.
    """

    def __init__(
        self, trace: Trace, returned: Any, keeps_arguments: bool, report: Callable[[str], None]
    ) -> None:
        self._trace, self._keeps_arguments, self._report = trace, keeps_arguments, report
        found: list[Any] = []
        self._floats: list[Any] = []
        self._structure = _flat(returned, found, self._floats)
        own = {id(x): x for x in found if trace.is_own(x)}
        numbers = {key: i for i, key in enumerate(own)}
        # Each array returned: the number of a result, or of an argument below 0, or what was captured.
        given = {id(x): i - len(trace.arguments) for i, x in enumerate(trace.arguments)}
        self._leaves = [numbers.get(id(x), given.get(id(x), x)) for x in found]
        self._roots = [x.roots for x in own.values()]
        self.graph = graph = trace.graph(own.values())
        variables = [*graph.arguments, *graph.auxiliary_states]
        self._num_args = len(graph.arguments)
        self._names = [node.name for node in variables]
        self._sources = [trace.parameters[node] for node in variables]
        self._numbers = [(i, *each) for i, each in enumerate(self._sources) if each.__class__ is tuple]
        self._plans: dict[Any, _Compiled] = {}

    def __call__(
        self, arrays: Sequence[imperative.Array], floats: Sequence[float], mode: int, hook: Hook | None
    ) -> Any:
        """Return what the function does for arguments of this kind."""
        results: Any = ()
        if self.graph.outputs:
            inputs = [arrays[each] if each.__class__ is int else each for each in self._sources]
            for i, number, spec in self._numbers:
                inputs[i] = NDArray._new(spec)._set(number.compute(floats))
            states = [x._chunk for x in inputs[self._num_args :]]
            if states and any([x._chunk for x in inputs].count(chunk) > 1 for chunk in states):
                raise self._trace.refusal("a state shares memory with another array", "pass a copy")
            if hook is None:
                results = self._run(inputs, mode)
            else:
                nodes = [*self.graph.arguments, *self.graph.auxiliary_states]
                results = evaluate(self.graph, dict(zip(nodes, inputs, strict=True)), hook)
        leaves = [
            (results if leaf >= 0 else arrays)[leaf] if leaf.__class__ is int else leaf
            for leaf in self._leaves
        ]
        numbers = [x.compute(floats) if type(x) is TracedNumber else x for x in self._floats]
        return _nested(self._structure, iter(leaves), iter(numbers))

    def _run(self, inputs: list[Any], mode: int) -> Any:
        is_recording = mode & imperative.RECORDING
        key = tuple([_request(x) for x in inputs[: self._num_args]]) if is_recording else ()
        plan, untracked, more, state = self._plans.get(key) or self._compile(key, inputs, mode)
        if state is not None:
            state.refresh()
            inputs[self._num_args : self._num_args] = more
        results = imperative.apply(plan, inputs, None, (), mode, NDArray)
        if results.__class__ is not list:
            results = [results]
        for i in untracked:
            results[i]._autograd, results[i]._provenance = None, imperative.Provenance.UNTRACKED
        return results

    def _compile(self, key: Any, inputs: Sequence[imperative.Array], mode: int) -> _Compiled:
        begun_s, title, ctx = perf_counter(), self._trace.title, self._trace.ctx
        wanted = {name: request for name, request in zip(self._names, key, strict=False) if request}
        named, count = dict(zip(self._names, inputs, strict=True)), self._num_args
        specs = {name: x._spec for name, x in named.items()}
        lasting = [name for name, x in zip(self._names, self._sources, strict=True) if isinstance(x, NDArray)]
        prop = CompiledProperty(title, self.graph, ctx, specs, wanted, self._keeps_arguments, lasting)
        made, state = _prepared(prop.layout, named) if prop.layout.preparations else ([], None)
        given = [*inputs[:count], *made, *inputs[count:]]
        plan = imperative.Plan(prop, [x._spec for x in given], ctx, bool(mode & imperative.TRAINING))
        plan.last_tape = ()
        program = prop.layout.program
        self._report(
            f"compiled {prop.name} in {(perf_counter() - begun_s) * 1e3:.1f} ms: {len(program.forward)} and "
            f"{len(program.backward)} nodes, {prop.layout.arena_bytes} bytes kept, gradients of "
            f"{', '.join(wanted) or 'nothing'}"
        )
        untracked = [i for i, roots in enumerate(self._roots) if roots.isdisjoint(wanted)] if key else []
        found = plan, untracked, made, state
        imperative.insert_bounded(self._plans, key, found, _MOST_KEPT)
        return found


def evaluate(
    graph: Graph,
    arrays: Mapping[Variable, imperative.Array],
    hook: Hook | None = None,
    instead: Mapping[str, OperatorProperty] = MappingProxyType({}),
) -> list[Any]:
    """Compute a graph by a call of each node, in order; also of traced arrays.

    Args:
        arrays: By variable.
        hook: What to show.
        instead: Operators that take the place of those of some nodes, by the node's name.
    """
    values: dict[Entry, Any] = {Entry(node): array for node, array in arrays.items()}
    ctx = next((array._spec.ctx for array in arrays.values()), None)
    for node in graph.op_nodes:
        op, inputs = instead.get(node.name, node.op), [values[entry] for entry in node.inputs]
        # A node has its states behind its arguments; a call may have them elsewhere.
        positions = op.input_positions() or range(len(inputs))
        inputs = [x for _, x in sorted(zip(positions, inputs, strict=True), key=itemgetter(0))]
        made = imperative.Invoker(op)(inputs, ctx=ctx, cls=NDArray)
        values.update(zip(node.entries, made if isinstance(made, list) else [made], strict=False))
        if hook is not None:
            read = zip(op.list_inputs() if hook[1] else (), inputs, strict=False)
            shown = [(f"{node.name}_{name}", array) for name, array in read]
            shown += [(entry.name, values[entry]) for entry in node.entries if entry in values]
            for name, array in shown:
                hook[0](name, op.name, array)
    return [values[entry] for entry in graph.outputs]


def _request(array: imperative.Array) -> str:
    """The request of an array's gradient; empty if none can be asked for."""
    entry = array._autograd
    return "" if entry is None else "add" if getattr(entry[0], "req", None) == "add" else "write"


@final
class CompiledFunction:
    """A function of arrays that runs as compiled programs; `compile` makes it."""

    _hook: Hook | None = None

    def __init__(self, function: Callable[..., Any], create_graph: bool) -> None:
        functools.update_wrapper(self, function)
        self._function, self._create_graph = function, create_graph
        self._title = getattr(function, "__name__", type(function).__name__)
        # By context and kind of call: positions of floats that it looks at, and by their values the traces.
        self._kinds: dict[Context, dict[Any, tuple[list[int], dict[Any, _Traced]]]] = {}
        self._last: tuple[Any, ...] = ()
        self._lines: deque[str] = deque(maxlen=_MOST_KEPT)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function: traced and compiled, where this kind of call is new."""
        mode = imperative.local.state.mode
        if mode >= imperative.TRACING:
            return self._function(*args, **kwargs)
        arrays: list[NDArray] = []
        floats: list[float] = []
        structure = _flat((args, kwargs), arrays, floats)
        kind = (structure, mode, _surroundings(), settings(), current_context(), *[x._spec for x in arrays])
        ctx = arrays[0]._spec.ctx if arrays else current_context()
        try:
            asked, traced = self._kinds.setdefault(ctx, {}).get(kind) or ((), {})
        except TypeError as error:
            raise ArgumentError(
                f"{self._title}: an argument is neither an array nor hashable ({error}); make NumPy's arrays "
                "od.nd.array, and close over what never changes"
            ) from None
        found = traced.get(tuple([repr(floats[i]) for i in asked]) if asked else ())
        if found is None:
            found = self._trace(ctx, kind, structure, arrays, floats)
        return found(arrays, floats, mode, self._hook)

    def _trace(
        self, ctx: Context, kind: Any, structure: Any, arrays: Sequence[NDArray], floats: Sequence[float]
    ) -> _Traced:
        begun_s, why, kinds = perf_counter(), self._reason(kind), self._kinds[ctx]
        trace = Trace(self._title, [x._spec for x in arrays], floats, ctx)

        def body() -> Any:
            args, kwargs = _nested(structure, iter(trace.arguments), iter(trace.floats))
            return self._function(*args, **kwargs)

        made = _Traced(trace, trace.run(body), self._create_graph, self._lines.append)
        title, ms = self._title, (perf_counter() - begun_s) * 1e3
        self._lines.append(f"traced {title} in {ms:.1f} ms ({why}): {len(made.graph.op_nodes)} calls")
        before, known = kinds.get(kind) or ([], {})
        asked = sorted(trace.asked.union(before))
        # One tuple, replaced whole, so that threads agree on what they see.
        found = asked, known if asked == before else {}
        imperative.insert_bounded(found[1], tuple([repr(floats[i]) for i in asked]), made, _MOST_KEPT)
        imperative.insert_bounded(kinds, kind, found, _MOST_KEPT)
        self._last = kind
        return made

    def _reason(self, kind: tuple[Any, ...]) -> str:
        names = ["structure or constants", "mode", "what is installed or its settings", "settings", "context"]
        names += [f"array {i} is {spec}" for i, spec in enumerate(kind[len(names) :])]
        changed = [name for name, new, old in zip(names, kind, self._last, strict=False) if new != old]
        return ", ".join(changed) or ("a number that it looks at" if self._last else "first call")

    def register_op_hook(
        self, callback: Callable[[str, str, NDArray], object] | None, monitor_all: bool = False
    ) -> None:
        """Call `callback(name, operator, array)` for each result inside, as it is computed.

        Calls then run one by one, and each is on the tape.

        Args:
            callback: What to call; None to stop.
            monitor_all: Whether it is called for what each operator reads, too.
        """
        self._hook = None if callback is None else (callback, monitor_all)

    def why(self) -> str:
        """Report of what was traced and compiled, and why, in lines; the latest last."""
        return "\n".join(self._lines)

    def __get__(self, instance: Any, owner: type) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> Any:
        found: Any = sys.modules.get(self._function.__module__)
        for part in self._function.__qualname__.split("."):
            found = getattr(found, part, None)
        if found is self:  # it is known by the function's name
            return self._function.__qualname__
        return functools.partial(compile, create_graph=self._create_graph), (self._function,)


def compile(function: Callable[..., Any] | None = None, *, create_graph: bool = False) -> Any:
    """Compile a function of arrays: one planned program, and one node of the tape."""
    if function is None:
        return functools.partial(compile, create_graph=create_graph)
    return CompiledFunction(function, create_graph)
