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
from operator import itemgetter
from typing import Any, Final, final

from operad.compiled.numbers import AS_ARRAYS, NumberArray, TracedNumber
from operad.device import Context
from operad.engine.thread import local
from operad.errors import TraceError
from operad.graph import Entry, Graph, Node, OpNode, Variable, topological_order
from operad.imperative import RECORDING, TRACING, Array, ArraySpec, Plan, Scope, TapeNode, spec_of
from operad.ndarray import NDArray
from operad.op import Shape
from operad.resource import ResourceRequest

_VIEWS: Final = frozenset(("Reshape", "transpose", "slice"))
"""Operators that stand for what shares memory in an eager run."""
_RETURN: Final = "return the array, and read its values outside"
_COMPUTE: Final = "compute with arrays, or pass numbers as arguments"
_DOORS: Final = {
    "asnumpy": _RETURN, "asscalar": _RETURN, "item": _RETURN, "tolist": _RETURN,
    "__float__": _COMPUTE, "__int__": _COMPUTE, "__index__": _COMPUTE,
    "__bool__": "choose by od.nd.where, or leave this function uncompiled",
    "__array__": "compute by operators of od.nd", "__dlpack__": "compute by operators of od.nd",
}  # fmt: skip
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
        trace: The trace that it belongs to.
        entry: The value that it has now; None while it is undefined, as `nd.empty` leaves it.
        roots: Names of the variables that an eager run would record it to depend on.
        sharing: Arrays that share memory with it in an eager run, itself among them.
    """

    __slots__ = ("entry", "roots", "sharing", "trace")

    _chunk: Any = _NoMemory()
    _is_part = False  # type: ignore[assignment]
    _function_of = NDArray._function_of

    def __init__(
        self, spec: ArraySpec, trace: Trace, entry: Entry | None = None, roots: frozenset[str] = frozenset()
    ) -> None:
        self._spec = spec
        self._autograd = None
        self.trace, self.entry, self.roots = trace, entry, roots
        self.sharing: list[Callable[[], object]] = [weakref.ref(self)]

    @property
    def _data(self) -> Any:  # type: ignore[override]
        return self._chunk.var

    @classmethod
    def _new(cls, spec: ArraySpec) -> TracedArray:
        made: TracedArray = local.state.trace.empty(spec)
        return made

    def detach(self) -> TracedArray:
        """The same value, through which no gradient flows."""
        made = self.trace.blocked(self)
        made.sharing = self.sharing
        made.sharing.append(weakref.ref(made))
        return made

    def wait_to_read(self) -> None:
        """Nothing is pending."""

    wait_to_write = wait_to_read


def _refused(door: str, cure: str) -> Callable[..., Any]:
    def method(self: TracedArray, *_: Any, **__: Any) -> Any:
        raise self.trace.refusal(f"{door}() of an array of shape {self.shape}", cure)

    return method


for _door, _cure in _DOORS.items():
    setattr(TracedArray, _door, _refused(_door, _cure))


@final
class Trace:
    """Trace of one function.

    Attributes:
        title: What errors call the function.
        ctx: Where it runs.
        arguments: Arrays that stand for the arguments, and `floats` for the floats among these.
        captured: Arrays that are parameters of the graph, by their ids, behind the arguments.
        numbers: Numbers that are, behind these.
        asked: Positions of the floats whose values the function looked at.
    """

    def __init__(self, title: str, specs: Sequence[ArraySpec], floats: Sequence[float], ctx: Context) -> None:
        self.title, self.ctx = title, ctx
        names = [f"argument{i}" for i in range(len(specs))]
        made = zip(specs, names, strict=True)
        self.arguments = [TracedArray(s, self, Entry(Variable(n)), frozenset((n,))) for s, n in made]
        self._given = {id(x): x.entry for x in self.arguments}
        self.asked: set[int] = set()
        found = enumerate(floats)
        self.floats = [TracedNumber(x, itemgetter(i), frozenset((i,)), self.asked) for i, x in found]
        self.captured: dict[int, tuple[Entry, Array]] = {}
        self.numbers: list[tuple[Entry, NumberArray]] = []
        self._mode = local.state.mode | TRACING
        self._calls: Counter[str] = Counter()
        self._effects: list[OpNode] = []
        self._users: dict[Node, list[OpNode]] = {}  # of each variable
        self._updates: dict[Node, OpNode] = {}  # of each state the last one

    def __str__(self) -> str:
        return (
            f"{sum(self._calls.values())} calls of {len(self.arguments)} arguments, {len(self.captured)} captured "
            f"arrays and {len(self.numbers)} numbers"
        )

    def run(self, function: Callable[[], Any]) -> Any:
        """Call a function that uses the arguments; returns what it returns."""
        local.state.trace = self
        with Scope(recording=None, training=None, tracing=True):
            return function()

    def graph(self, outputs: Iterable[TracedArray]) -> Graph:
        """The graph of some results, and of all that a run changes besides."""
        entries = [self.entry(x) for x in outputs]
        reached = set(topological_order(entries))
        for node in reversed(self._effects):
            if node not in reached:
                entries.append(Entry(node))
                reached.update(topological_order(entries[-1:]))
        return Graph(entries)

    @property
    def variables(self) -> list[Node]:
        """Variables of the arguments, of captured arrays and of numbers."""
        given = [entry for entry in self._given.values() if entry is not None]
        parameters = *self.captured.values(), *self.numbers
        return [entry.node for entry in (*given, *[entry for entry, _ in parameters])]

    def refusal(self, what: str, cure: str) -> TraceError:
        """Error of what a program cannot say."""
        return TraceError(f"{self.title}: {what} while the function is compiled; {cure}")

    def check_mode(self, mode: int) -> None:
        """Refuse a change of the thread's mode, but for a pause."""
        if (mode ^ self._mode) & ~RECORDING or mode & ~self._mode:
            raise self.refusal("the mode changes", "compile what is inside as a function of its own")

    @property
    def _is_paused(self) -> bool:
        return self._mode & RECORDING > local.state.mode & RECORDING

    def is_own(self, array: Array) -> bool:
        """Return whether the function made the array."""
        return isinstance(array, TracedArray) and array.trace is self and id(array) not in self._given

    def written(self, targets: Any) -> Any:
        """`targets`, an array or several, which the function may write."""
        for target in targets if isinstance(targets, (list, tuple)) else (targets,):
            if not isinstance(target, Array):
                continue
            what = f"an array of shape {target.shape} is written"
            if not isinstance(target, TracedArray) or not self.is_own(target):
                cure = "return the new values, and write them outside"
                raise self.refusal(f"{what} that the function did not make", cure)
            others = [other for ref in target.sharing if (other := ref()) is not None]
            if self._is_paused or any(other is not target for other in others):
                cause = "under pause()" if self._is_paused else "whose memory another array shares"
                raise self.refusal(f"{what} {cause}", "compute a new array in its place, as in `x = x + y`")
        return targets

    def assign(self, target: TracedArray, source: NDArray) -> None:
        """`target` has the values of `source` from now on."""
        self.written(target)
        if source._spec.ctx is not target._spec.ctx:
            raise self._elsewhere(source)
        source = source.astype(target.dtype, copy=False)
        target.entry, target.roots = self.entry(source), self._roots(source)

    def entry(self, array: Array) -> Entry:
        """The value of an array."""
        if isinstance(array, TracedArray):
            if array.trace is not self:
                raise self.refusal("an array of another such function is used", "return it from there")
            if array.entry is None:
                raise self.refusal("an array is read that nothing was written to", "use od.nd.zeros")
            return array.entry
        if array._autograd is not None and isinstance(array._autograd[0], TapeNode):
            what = f"a recorded result of shape {array.shape} is used that is no argument"
            raise self.refusal(what, "pass it as one, or detach() it outside")
        made = Entry(Variable(f"captured{len(self.captured)}"))
        return self.captured.setdefault(id(array), (made, array))[0]

    def _roots(self, array: Array) -> frozenset[str]:
        return array.roots if isinstance(array, TracedArray) else frozenset((self.entry(array).name,))

    def empty(self, spec: ArraySpec) -> TracedArray:
        """A new array with undefined contents."""
        return TracedArray(spec, self)

    def constant(self, array: Array) -> TracedArray:
        """The function's own array with the values of one that it made of plain numbers."""
        return TracedArray(array._spec, self, self.entry(array))

    def blocked(self, array: NDArray) -> TracedArray:
        """The same value, through which no gradient flows."""
        made: TracedArray = NDArray._function_of("BlockGrad")(array)
        made.roots = frozenset()
        return made

    def plain(self, value: Any) -> Any:
        """A value, or a sequence of some, where only values of numbers count."""
        if isinstance(value, (list, tuple)):
            return type(value)([self.plain(one) for one in value])
        return value.ask() if type(value) is TracedNumber else value

    def operand(self, array: NDArray, other: Any, scalar: str) -> Any:
        """`other`, the second operand of `scalar`; an array where it is a number that may change."""
        if type(other) is not TracedNumber:
            return other
        if scalar not in AS_ARRAYS or array.dtype.kind != "f":
            return other.ask()
        spec = spec_of((1,) * array.ndim, array._spec.dtype, self.ctx)
        entry = Entry(Variable(f"number{len(self.numbers)}"))
        self.numbers.append((entry, NumberArray(other, spec)))
        return TracedArray(spec, self, entry)

    def call(self, plan: Plan, inputs: Sequence[Array], out: Sequence[Any] | None, values: Any) -> Any:
        """Note the call of a plan; see `imperative.apply`."""
        signature, prop = plan.signature, plan.declared
        if values and plan.run_time is not None:
            prop = prop.rebound(plan.run_time.named(self.plain(values)))
        if signature.ctx is not self.ctx:
            raise self._elsewhere(inputs[0] if inputs else None)
        if signature.order is not None:
            inputs = [inputs[position] for position in signature.order]
        name = prop.name.lower().lstrip("_")
        node = OpNode(prop, f"{name}{self._calls[name]}", [self.entry(x) for x in inputs])
        self._calls[name] += 1
        self._order(node, signature.in_shapes)
        made = [TracedArray(spec, self) for spec in plan.out_specs] if out is None else out
        roots: frozenset[str] = frozenset().union(*map(self._roots, inputs[: signature.num_args]))
        for index, array in enumerate(made[: signature.num_visible]):
            array.entry, array.roots = Entry(node, index), roots
            if self._is_paused and prop.name != "BlockGrad":
                array.entry, array.roots = self.blocked(array).entry, frozenset()
        if prop.name in _VIEWS and out is None:
            source = inputs[0]
            made[0].sharing += source.sharing if isinstance(source, TracedArray) else [lambda: source]
            if isinstance(source, TracedArray):
                source.sharing[:] = made[0].sharing
                made[0].sharing = source.sharing
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
        kinds = {*node.op.forward_resource(in_shapes)} - {ResourceRequest.TEMP_SPACE}
        if node.aux or node.op.is_stateful or kinds:
            before.update(dict.fromkeys(self._effects[-1:]))
            self._effects.append(node)
        for variable in used:
            self._users.setdefault(variable, []).append(node)
        node.control_deps = list(before)

    def _elsewhere(self, array: Array | None) -> TraceError:
        where = f"an array of {array.ctx}" if array is not None else "another context"
        return self.refusal(f"{where} is used", f"compile a function for each context; this is {self.ctx}'s")
