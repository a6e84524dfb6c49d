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

from operad.compiled.numbers import AS_ARRAYS, TracedNumber
from operad.device import Context
from operad.engine.thread import local
from operad.errors import TraceError
from operad.graph import Entry, Graph, Node, OpNode, Variable, topological_order
from operad.imperative import RECORDING, TRACING, Array, ArraySpec, Plan, Scope, TapeNode, spec_of
from operad.ndarray import NDArray
from operad.op import Shape
from operad.resource import ResourceRequest

_VIEWS: Final = ("Reshape", "transpose", "slice")
"""Operators that stand for what shares memory in an eager run."""
_DOORS: Final = {
    "return the array, and read its values outside": "asnumpy asscalar item tolist",
    "compute with arrays, or pass numbers as arguments": "__float__ __int__ __index__",
    "choose by od.nd.where, or leave this function uncompiled": "__bool__",
    "compute by operators of od.nd": "__array__ __dlpack__",
}
"""Doors to the values of an array, under what to do in their place."""


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
    _is_part = False
    _function_of = NDArray._function_of

    def __init__(self, spec: ArraySpec, trace: Trace, entry: Entry | None = None, root: str = "") -> None:
        self._spec, self._autograd, self.trace, self.entry = spec, None, trace, entry
        self.roots = frozenset((root,)) if root else frozenset()
        self.sharing: list[Callable[[], object]] = [weakref.ref(self)]

    @property
    def _data(self) -> Any:
        return self._chunk.var

    @classmethod
    def _new(cls, spec: ArraySpec) -> TracedArray:
        made: TracedArray = local.state.trace.empty(spec)
        return made

    def detach(self) -> TracedArray:
        """The same value, through which no gradient flows."""
        return self.trace.share(self, self.trace.blocked(self))


def _refused(door: str, cure: str) -> Callable[..., Any]:
    def method(self: TracedArray, *_: Any, **__: Any) -> Any:
        raise self.trace.refusal(f"{door}() of an array of shape {self.shape}", cure)

    return method


for _cure, _names in _DOORS.items():
    for _name in _names.split():
        setattr(TracedArray, _name, _refused(_name, _cure))
setattr(TracedArray, "grad", property(_refused("grad", "pass the gradient as an argument")))  # noqa: B010


@final
class Trace:
    """Trace of one function.

    Attributes:
        title: What errors call the function.
        ctx: Where it runs.
        arguments: Arrays that stand for the arguments, and `floats` for the floats among these.
        parameters: By variable, where its array comes from: the position of an argument, a captured array, or
            a number and the specification of its array.
        asked: Positions of the floats whose values the function looked at.
    """

    def __init__(self, title: str, specs: Sequence[ArraySpec], floats: Sequence[float], ctx: Context) -> None:
        self.title, self.ctx = title, ctx
        self.parameters: dict[Node, Any] = {}
        self.arguments = [TracedArray(spec, self, *self._parameter(i)) for i, spec in enumerate(specs)]
        self.asked: set[int] = set()
        found = enumerate(floats)
        self.floats = [TracedNumber(x, itemgetter(i), frozenset((i,)), self.asked) for i, x in found]
        self._captured: dict[int, Entry] = {}  # by the array's id, which `parameters` keeps
        self._mode = local.state.mode | TRACING
        self._calls: Counter[str] = Counter()
        self._effects: list[OpNode] = []
        self._refused: TraceError | None = None
        self._users: dict[Node, list[OpNode]] = {}  # of each variable
        self._updates: dict[Node, OpNode] = {}  # of each state the last one

    def _parameter(self, source: Any) -> tuple[Entry, str]:
        """A new variable, and its name."""
        made = Variable(f"input{len(self.parameters)}")
        self.parameters[made] = source
        return Entry(made), made.name

    def run(self, function: Callable[[], Any]) -> Any:
        """Call a function that uses the arguments; returns what it returns."""
        local.state.trace = self
        with Scope(recording=None, training=None, tracing=True):
            found = function()
        if self._refused is not None:  # and the function caught it
            raise self._refused
        return found

    def graph(self, outputs: Iterable[TracedArray]) -> Graph:
        """The graph of some results, and of all that a run changes besides."""
        entries = [self.entry(x) for x in outputs]
        for node in reversed(self._effects):
            if node not in topological_order(entries):
                entries.append(Entry(node))
        return Graph(entries)

    def refusal(self, what: str, cure: str) -> TraceError:
        """Error of what a program cannot say."""
        found = TraceError(f"{self.title}: {what} while the function is compiled; {cure}")
        self._refused = self._refused or found
        return found

    def check_mode(self, mode: int) -> None:
        """Refuse a change of the thread's mode, but for a pause."""
        if (mode ^ self._mode) & ~RECORDING or mode & ~self._mode:
            raise self.refusal(
                "the mode changes", "keep it, as in `pause(train_mode=True)`, or compile what is inside apart"
            )

    def _is_paused(self) -> bool:
        return self._mode & RECORDING > local.state.mode & RECORDING

    def is_own(self, array: Array) -> bool:
        """Return whether the function made the array."""
        is_given = any(array is x for x in self.arguments)
        return isinstance(array, TracedArray) and array.trace is self and not is_given

    def written(self, targets: Any) -> Any:
        """`targets`, an array or several, which the function may write."""
        for target in targets if isinstance(targets, (list, tuple)) else (targets,):
            what, cure = f"an array of shape {target.shape} is written", "compute a new array: `x = x + y`"
            if not self.is_own(target):
                cure = "return the new values, and write them outside"
                raise self.refusal(f"{what} that the function did not make", cure)
            if self._is_paused():
                raise self.refusal(f"{what} under pause()", cure)
            if any(other is not target for ref in target.sharing if (other := ref()) is not None):
                raise self.refusal(f"{what} whose memory another array shares", cure)
        return targets

    def assign(self, target: TracedArray, source: NDArray) -> None:
        """`target` has the values of `source` from now on."""
        self.written(target)
        source = source.astype(target.dtype, copy=False)
        target.entry, target.roots = self.entry(source), self._roots(source)

    def entry(self, array: Array) -> Entry:
        """The value of an array."""
        if isinstance(array, TracedArray):
            if array.trace is not self or array.entry is None:
                raise self.refusal(
                    "an array of another such function, or an empty one, is read", "pass values"
                )
            return array.entry
        if array._autograd is not None and isinstance(array._autograd[0], TapeNode):
            what = f"a recorded result of shape {array.shape} is used that is no argument"
            raise self.refusal(what, "pass it as one, or detach() it outside")
        if id(array) not in self._captured:
            self._captured[id(array)], _ = self._parameter(array)
        return self._captured[id(array)]

    def _roots(self, array: Array) -> frozenset[str]:
        return array.roots if isinstance(array, TracedArray) else frozenset((self.entry(array).name,))

    def empty(self, spec: ArraySpec) -> TracedArray:
        """A new array with undefined contents."""
        self._check_context(spec.ctx)
        return TracedArray(spec, self)

    def constant(self, array: Array) -> TracedArray:
        """The function's own array with the values of one that it made of plain numbers."""
        return TracedArray(array._spec, self, self.entry(array))

    def blocked(self, array: NDArray) -> TracedArray:
        """The same value, through which no gradient flows."""
        made: TracedArray = NDArray._function_of("BlockGrad")(array)
        made.roots = frozenset()
        return made

    def share(self, source: Array, made: TracedArray) -> TracedArray:
        """`made`, whose memory in an eager run is that of `source`."""
        sharing = source.sharing if isinstance(source, TracedArray) else [lambda: source]
        sharing += made.sharing
        made.sharing = sharing
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
        return TracedArray(spec, self, self._parameter((other, spec))[0])

    def call(self, plan: Plan, inputs: Sequence[Array], out: Sequence[Any] | None, values: Any) -> Any:
        """Note the call of a plan; see `imperative.apply`."""
        signature, prop = plan.signature, plan.declared
        if values and plan.run_time is not None:
            prop = prop.rebound(plan.run_time.named(self.plain(values)))
        self._check_context(signature.ctx)
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
            if self._is_paused() and prop.name != "BlockGrad":
                array.entry, array.roots = self.blocked(array).entry, frozenset()
        if prop.name in _VIEWS and out is None:
            self.share(inputs[0], made[0])
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

    def _check_context(self, ctx: Context) -> None:
        if ctx is not self.ctx:
            raise self.refusal(
                f"an array of {ctx} is used", f"compile a function for each; this is {self.ctx}'s"
            )
