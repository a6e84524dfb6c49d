"""Tracing: the calls of a function become a graph, and nothing is computed.

The user's own function is called with traced arrays, which know shape and type and have no memory. While the
thread's mode is `TRACING`, every call of an operator ends in `Trace.call`, which infers by the plan of that
call and makes a node. An array that the function did not make, and that is none of its arguments, is
*captured*: it becomes a parameter of the graph, by reference.

Writing. A node never changes. A traced array that the function made is a cell, which holds one entry after
another, so what is written in place is a new entry. What shares memory with another array in an eager run, as
a view does, would have to change that one too: such a write is refused while the other array lives.

Order. Operators that draw random numbers, keep something or update a state run in the order of the function's
calls (`OpNode.control_deps`), also where nobody reads what they give.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, final

from operad.device import Context
from operad.engine.thread import local
from operad.errors import TraceError
from operad.graph import Entry, Graph, Node, OpNode, Variable, topological_order
from operad.imperative import RECORDING, TRACING, Array, ArraySpec, Plan, Scope, TapeNode
from operad.ndarray import NDArray
from operad.op import OperatorProperty, Shape
from operad.resource import ResourceRequest

_VIEWS: Final = frozenset(("Reshape", "transpose", "slice", "BlockGrad"))
"""Operators that stand for what shares memory in an eager run."""
_SPACE: Final = ResourceRequest.TEMP_SPACE
_VALUES: Final = {
    **dict.fromkeys(("asnumpy", "asscalar", "item", "tolist"), "return the array, and read its values outside"),
    **dict.fromkeys(("__bool__",), "choose by od.nd.where, or leave this function uncompiled"),
    **dict.fromkeys(("__float__", "__int__", "__index__"), "pass numbers as arguments, or compute with arrays"),
    **dict.fromkeys(("__array__", "__dlpack__"), "compute by operators of od.nd"),
}
"""Doors to the values of an array, each with what to do in its place."""


@final
class _NoMemory:
    """Chunk of an array without memory."""

    note = lease = owner = None

    @property
    def var(self) -> Any:
        raise TraceError(
            "an array without values is used outside of the function that made it while it was compiled; "
            "return the array from that function"
        )


@final
class TracedArray(NDArray):
    """An array without memory, inside a trace.

    Attributes:
        entry: The value that it has now; None while it is undefined, as `nd.empty` leaves it.
        trace: The trace that it belongs to.
        sharing: Arrays that share memory with it in an eager run, itself among them.
        is_own: Whether the function made it, and so may write it.
    """

    __slots__ = ("entry", "is_own", "sharing", "trace")

    _chunk: Any = _NoMemory()
    _is_part = False  # type: ignore[assignment]
    _function_of = NDArray._function_of

    def __init__(self, spec: ArraySpec, trace: Trace, entry: Entry | None, is_own: bool = True) -> None:
        self._spec = spec
        self._autograd = None
        self.entry = entry
        self.trace = trace
        self.is_own = is_own
        self.sharing: list[Callable[[], Array | None]] = [weakref.ref(self)]

    @property
    def _data(self) -> Any:  # type: ignore[override]
        return self._chunk.var

    @classmethod
    def _new(cls, spec: ArraySpec) -> TracedArray:
        made: TracedArray = local.state.trace.empty(spec)
        return made

    def detach(self) -> NDArray:
        """The same value, through which no gradient flows."""
        return self.trace.blocked(self)

    def wait_to_read(self) -> None:
        """Nothing is pending."""

    wait_to_write = wait_to_read


def _refused(door: str, cure: str) -> Callable[..., Any]:
    def method(self: TracedArray, *_: Any, **__: Any) -> Any:
        raise self.trace.refusal(f"{door}() of an array of shape {self.shape}", cure)

    return method


for _door, _cure in _VALUES.items():
    setattr(TracedArray, _door, _refused(_door, _cure))


@final
class Trace:
    """Trace of one function.

    Attributes:
        title: What errors call the function.
        ctx: Where it runs.
        captured: Arrays that are parameters of the graph, behind the arguments.
    """

    def __init__(self, title: str, specs: Sequence[ArraySpec], ctx: Context) -> None:
        self.title = title
        self.ctx = ctx
        self.captured: list[Array] = []
        self._mode = local.state.mode | TRACING
        self._numbers: Counter[str] = Counter()
        self._captured: dict[int, Entry] = {}  # by the array's id, which `captured` keeps
        self._effects: list[OpNode] = []
        self._users: dict[Node, list[OpNode]] = {}  # of each variable
        self._updates: dict[Node, OpNode] = {}  # of each state the last one
        self.variables = [Variable(f"arg{i}") for i in range(len(specs))]
        self.arguments = [
            TracedArray(spec, self, Entry(node), is_own=False)
            for spec, node in zip(specs, self.variables, strict=True)
        ]

    def run(self, function: Callable[[Sequence[TracedArray]], Any]) -> Any:
        """Call the function with the arguments; returns what it returns."""
        thread = local.state
        thread.trace = self
        with Scope(recording=None, training=None, tracing=True):
            return function(self.arguments)

    def graph(self, outputs: Iterable[Array]) -> Graph:
        """The graph of some results, and of all that a run changes besides."""
        entries = [self.entry(x) for x in outputs]
        reached = set(topological_order(entries))
        for node in reversed(self._effects):
            if node not in reached:
                entries.append(Entry(node))
                reached.update(topological_order([Entry(node)]))
        return Graph(entries)

    def refusal(self, what: str, cure: str) -> TraceError:
        """Error of what a program cannot say."""
        return TraceError(f"{self.title}: {what} while the function is compiled; {cure}")

    def check_mode(self, mode: int) -> None:
        """Refuse a change of the thread's mode, but for a pause."""
        if (mode ^ self._mode) & ~RECORDING or mode & ~self._mode:
            raise self.refusal("the mode changes", "compile what is inside as a function of its own")

    def written(self, targets: Any) -> Any:
        """`targets`, an array or several, which the function may write."""
        for target in targets if isinstance(targets, (list, tuple)) else (targets,):
            if not isinstance(target, Array):
                continue
            if not isinstance(target, TracedArray) or not target.is_own:
                raise self.refusal(
                    f"an array of shape {target.shape} that the function did not make is written",
                    "return the new values, and write them outside",
                )
            if any(other is not target for ref in target.sharing if (other := ref()) is not None):
                raise self.refusal(
                    f"an array of shape {target.shape} that shares memory with another one is written",
                    "compute a new array in its place, as in `x = x + y`",
                )
        return targets

    def assign(self, target: TracedArray, source: NDArray) -> None:
        """`target` has the values of `source` from now on."""
        self.written(target)
        if source._spec.ctx is not self.ctx or target._spec.ctx is not self.ctx:
            raise self._elsewhere(source)
        target.entry = self.entry(source.astype(target.dtype, copy=False))

    def entry(self, array: Array) -> Entry:
        """The value of an array."""
        if isinstance(array, TracedArray):
            if array.trace is not self:
                raise self.refusal("an array of another such function is used", "return it from there")
            if array.entry is None:
                raise self.refusal("an array is read that nothing was written to", "use od.nd.zeros")
            return array.entry
        found = self._captured.get(id(array))
        if found is None:
            if array._autograd is not None and isinstance(array._autograd[0], TapeNode):
                raise self.refusal(
                    f"a recorded result of shape {array.shape} is used that is no argument", "pass it as one"
                )
            found = self._captured[id(array)] = Entry(Variable(f"captured{len(self.captured)}"))
            self.variables.append(found.node)  # type: ignore[arg-type]
            self.captured.append(array)
        return found

    def is_own(self, array: Array) -> bool:
        """Return whether the function made the array."""
        return isinstance(array, TracedArray) and array.trace is self and array.is_own

    def empty(self, spec: ArraySpec) -> TracedArray:
        """A new array with undefined contents."""
        return TracedArray(spec, self, None)

    def constant(self, array: Array) -> TracedArray:
        """The function's own array with the values of one that it made of plain numbers."""
        return TracedArray(array._spec, self, self.entry(array))

    def blocked(self, array: NDArray) -> NDArray:
        """The same value, through which no gradient flows."""
        made: NDArray = NDArray._function_of("BlockGrad")(array)
        return made

    def call(self, plan: Plan, inputs: Sequence[Array], out: Sequence[Any] | None, values: Any) -> Any:
        """Note the call of a plan; see `imperative.apply`."""
        signature, prop = plan.signature, plan.declared
        if values and plan.run_time is not None:
            prop = prop.rebound(plan.run_time.named(values))
        if signature.ctx is not self.ctx:
            raise self._elsewhere(inputs[0] if inputs else None)
        if signature.order is not None:
            inputs = [inputs[position] for position in signature.order]
        hint = prop.name.lower().lstrip("_")
        node = OpNode(prop, f"{hint}{self._numbers[hint]}", [self.entry(x) for x in inputs])
        self._numbers[hint] += 1
        self._order(node, signature.in_shapes)
        made = [TracedArray(spec, self, None) for spec in plan.out_specs] if out is None else out
        is_paused = self._mode & RECORDING and not local.state.mode & RECORDING
        for index, array in enumerate(made[: signature.num_visible]):
            array.entry = Entry(node, index)
            if is_paused and prop.name != "BlockGrad":
                array.entry = self.blocked(array).entry  # type: ignore[attr-defined]
        if prop.name in _VIEWS and out is None:
            self._share(inputs[0], made[0])
        return made[0] if signature.num_visible == 1 else made[: signature.num_visible]

    def _order(self, node: OpNode, in_shapes: Sequence[Shape]) -> None:
        """Have a node wait for those before it that draw from the same streams, or use the same states."""
        used = dict.fromkeys(entry.node for entry in node.inputs if isinstance(entry.node, Variable))
        before = dict.fromkeys(self._updates[each] for each in used if each in self._updates)
        for state, _ in node.aux:
            if state not in used:
                raise self.refusal(f"a state of {node.op.name} is computed", "pass it as an argument")
            before.update(dict.fromkeys(self._users.get(state, ())))
            self._updates[state] = node
        if node.aux or _has_effects(node.op, in_shapes):
            before.update(dict.fromkeys(self._effects[-1:]))
            self._effects.append(node)
        for variable in used:
            self._users.setdefault(variable, []).append(node)
        node.control_deps = list(before)

    def _share(self, source: Array, made: TracedArray) -> None:
        if isinstance(source, TracedArray):
            source.sharing.append(weakref.ref(made))
            made.sharing = source.sharing
        else:
            made.sharing.append(lambda: source)

    def _elsewhere(self, array: Array | None) -> TraceError:
        where = "" if array is None else f", {array.ctx}"
        return self.refusal(
            f"an array lies on another context{where}, expected {self.ctx}",
            "compile a function for each context, and copy between them",
        )


def _has_effects(op: OperatorProperty, in_shapes: Sequence[Shape]) -> bool:
    return op.is_stateful or any(kind is not _SPACE for kind in op.forward_resource(in_shapes))
