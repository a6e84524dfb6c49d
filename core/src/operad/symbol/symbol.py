"""Symbols: the front end that builds graphs.

A `Symbol` is a list of graph entries. Composing makes new nodes and never changes old ones, so
symbols can be shared freely.

Source: Symbol, python/mxnet/symbol/symbol.py. Differs: the Python API says None for an unknown
shape or axis; MXNet's 0 is accepted on the way in and written to files.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, ClassVar, final

from operad import registry
from operad.boundary import boundary
from operad.device import Context, as_context
from operad.dtypes import DType, as_dtype
from operad.errors import ArgumentError, GraphError, IndexOutOfRangeError, suggestion
from operad.executor import Executor, bind, simple_bind
from operad.graph import (
    Entry,
    Graph,
    Node,
    OpNode,
    TypeTable,
    Variable,
    gradient,
    hidden_key,
    infer_shapes,
    infer_types,
    ones_like,
)
from operad.ndarray import NDArray, by_name, check_dense
from operad.op import PartialShape, is_np_shape, known_shape
from operad.symbol import attribute
from operad.symbol.arithmetic import SymbolArithmetic
from operad.symbol.compose import (
    bindable_graph,
    copied,
    num_heads,
    only_entry,
    renamed,
    substitute,
    with_distinct_names,
)
from operad.symbol.function import symbol_function

ShapeLists = tuple[list[PartialShape], list[PartialShape], list[PartialShape]]
TypeLists = tuple[list[DType | None], list[DType | None], list[DType | None]]
Unknown = tuple[None, None, None]


@final
class Symbol(SymbolArithmetic, registry.OperatorMethods):
    """One or more outputs of a graph under construction. Made by `var`, operators and `Group`."""

    __slots__ = ("entries",)

    _nothing_else: ClassVar = (
        f"{registry.OperatorMethods._nothing_else}; what needs values (asnumpy, backward) works on arrays, "
        "such as an executor's outputs"
    )

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = tuple(entries)

    @property
    def graph(self) -> Graph:
        """The graph that computes the outputs, in which names tell nodes apart."""
        return with_distinct_names(Graph(self.entries))

    @property
    def name(self) -> str | None:
        """The name of the node behind the outputs; None for outputs of several nodes."""
        nodes = {entry.node for entry in self.entries}
        return nodes.pop().name if len(nodes) == 1 else None

    def list_arguments(self) -> list[str]:
        """Names of all arguments, in order of first use."""
        return self.graph.list_arguments()

    def list_auxiliary_states(self) -> list[str]:
        """Names of all auxiliary states."""
        return self.graph.list_auxiliary_states()

    def list_outputs(self) -> list[str]:
        """Names of the outputs, such as `fc1_output`."""
        return self.graph.list_outputs()

    def list_inputs(self) -> list[str]:
        """Names of all arguments and auxiliary states."""
        return [node.name for node in self.graph.nodes if isinstance(node, Variable)]

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Symbol]:
        return (Symbol([entry]) for entry in self.entries)

    @boundary
    def __getitem__(self, key: int | str | slice) -> Symbol:
        """One output by number or name, or several by slice.

        Raises:
            IndexOutOfRangeError: There is no output of this number.
            GraphError: No output has this name, or several do.
            TypeError: `key` is none of these.
        """
        if isinstance(key, slice):
            if not self.entries[key]:
                raise IndexOutOfRangeError(f"no output in {key} of a symbol that has {len(self.entries)}")
            return Symbol(self.entries[key])
        if isinstance(key, str):
            return Symbol([self._named_output(key)])
        if not -len(self.entries) <= key < len(self.entries):
            raise IndexOutOfRangeError(
                f"output {key} of a symbol that has {len(self.entries)}: {self.list_outputs()}"
            )
        return Symbol([self.entries[key]])

    def _named_output(self, name: str) -> Entry:
        names = self.list_outputs()
        found = [entry for entry, own in zip(self.entries, names, strict=True) if own == name]
        if len(found) != 1:
            count = f"{len(found)} outputs are" if found else "no output is"
            raise GraphError(f"{count} called {name!r}; outputs: {', '.join(names)}")
        return found[0]

    def get_internals(self) -> Symbol:
        """Every visible output of every node, variables included, in topological order."""
        return Symbol([Entry(node, i) for node in self.graph.nodes for i in range(_visible(node))])

    def attr(self, key: str) -> str | None:
        """The attribute or given parameter `key` of the node behind the outputs, or None."""
        attrs = self.entries[0].node.attrs
        return attrs.get(key, attrs.get(hidden_key(key)))

    def attr_dict(self) -> dict[str, dict[str, str]]:
        """Attributes of every node that has any, by node name."""
        return {node.name: attribute.with_mirrored(node.attrs) for node in self.graph.nodes if node.attrs}

    def __call__(self, *args: Symbol, name: str | None = None, **named: Symbol) -> Symbol:
        """This symbol with its arguments replaced, by position or by name.

        Args:
            name: New name of the node behind the outputs, if it is one operator.
        Raises:
            ArgumentError: A name is not among the arguments, or there are too many or no symbols.
        """
        graph = self.graph
        arguments: dict[str, Node] = {node.name: node for node in graph.arguments}
        given = by_name(repr(self), list(arguments), args, named)
        chosen = {arguments[key]: only_entry(repr(self), key, value) for key, value in given.items()}
        outputs = substitute(graph.outputs, chosen)
        return Symbol(outputs if name is None else renamed(outputs, name))

    @boundary
    def gradient(self, wrt: str | Sequence[str]) -> Symbol:
        """The gradients of the outputs, summed over all their elements, with respect to arguments.

        A loss is differentiated as in training: it has its own gradient. The symbol can be composed and bound
        like any other, and be differentiated again, by this or by `backward` of an executor.

        Args:
            wrt: Names of arguments.
        Returns:
            One output for each name; zeros for an argument on which nothing depends.
        Raises:
            ArgumentError: There is no argument of a name.
            GradientError: This is a gradient already, and goes through a loss, whose gradient has none. What
                has none for other reasons is refused by binding.

        Source: Symbol.gradient, python/mxnet/symbol/symbol.py. Differs: MXNet 1.x does not implement it.
        """
        graph = self.graph  # read once: each access makes another graph, perhaps with other nodes
        names = [wrt] if isinstance(wrt, str) else list(wrt)
        arguments = {node.name: Entry(node) for node in graph.arguments}
        if unknown := [name for name in names if name not in arguments]:
            advice = suggestion(unknown[0], arguments)
            raise ArgumentError(f"gradient: no argument is called {unknown[0]!r}; {advice}")
        heads = [ones_like(entry) for entry in graph.outputs]
        wanted = [arguments[name] for name in names]
        return Symbol(gradient(graph.outputs, heads, wanted, graph.nodes, adds_in_place=False))

    @boundary
    def infer_shape(self, *args: Any, **known: Any) -> ShapeLists | Unknown:
        """Shapes of arguments, outputs and auxiliary states from those given.

        Args:
            args: Shapes in `list_arguments` order, or
            known: shapes by argument name. None or 0 for an unknown axis.
        Returns:
            Three lists, or (None, None, None) if the shapes do not follow.
        Raises:
            ShapeError: The shapes contradict each other, anywhere in the graph.
        """
        table = infer_shapes(self.graph, self._known_shapes(args, known))
        lists = table.arguments, table.outputs, table.auxiliary
        return lists if table.is_complete else (None, None, None)

    @boundary
    def infer_shape_partial(self, *args: Any, **known: Any) -> ShapeLists:
        """Like `infer_shape`, with 0 for an axis that does not follow and () for a shape.

        In NumPy's manner, where those are an empty axis and a scalar (`is_np_shape`), -1 and None. A node
        whose first input stays unknown says nothing of its weights.
        """
        table = infer_shapes(self.graph, self._known_shapes(args, known), is_cautious=True)
        unknown, unknown_axis = (None, -1) if is_np_shape() else ((), 0)

        def shown(shapes: Sequence[PartialShape]) -> list[PartialShape]:
            return [
                unknown if shape is None else tuple(unknown_axis if n is None else n for n in shape)
                for shape in shapes
            ]

        return shown(table.arguments), shown(table.outputs), shown(table.auxiliary)

    def _known_shapes(self, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, PartialShape]:
        return {key: known_shape(value) for key, value in self._by_name("infer_shape", args, named).items()}

    def _by_name(self, call: str, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        if args and named:
            raise ArgumentError(f"{call}: give values by position or by name, not both")
        given = by_name(call, self.list_arguments() if args else self.list_inputs(), args, named)
        return {key: value for key, value in given.items() if value is not None}

    @boundary
    def infer_type(self, *args: Any, **known: Any) -> tuple[list[DType], list[DType], list[DType]] | Unknown:
        """Element types of arguments, outputs and states; (None, None, None) if they do not follow.

        Raises:
            DTypeError: The types contradict each other.
        """
        table = self._types("infer_type", args, known)
        return shown_types(table) if table.is_complete else (None, None, None)  # type: ignore[return-value]

    def _types(self, call: str, args: Sequence[Any], named: Mapping[str, Any]) -> TypeTable:
        known = self._by_name(call, args, named)
        return infer_types(self.graph, {key: as_dtype(value) for key, value in known.items()})

    @boundary
    def bind(
        self,
        ctx: Context | None,
        args: Sequence[NDArray] | Mapping[str, NDArray],
        args_grad: Sequence[NDArray | None] | Mapping[str, NDArray] | None = None,
        grad_req: str | Sequence[str] | Mapping[str, str] = "write",
        aux_states: Sequence[NDArray] | Mapping[str, NDArray] | None = None,
        group2ctx: Mapping[str, Context] | None = None,
        shared_exec: Executor | None = None,
    ) -> Executor:
        """An executor over the given arrays; see `operad.executor.bind`."""
        target = as_context(ctx, "bind")
        graph = bindable_graph("bind", self.entries)
        return bind(graph, target, args, args_grad, grad_req, aux_states, group2ctx, shared_exec)

    @boundary
    def simple_bind(
        self,
        ctx: Context | None = None,
        grad_req: str | Sequence[str] | Mapping[str, str] = "write",
        type_dict: Mapping[str, object] | None = None,
        stype_dict: Mapping[str, str] | None = None,
        group2ctx: Mapping[str, Context] | None = None,
        shared_arg_names: Collection[str] | None = None,
        shared_exec: Executor | None = None,
        shared_buffer: MutableMapping[str, NDArray] | None = None,
        **shapes: Any,
    ) -> Executor:
        """An executor over new or shared arrays; see `operad.executor.simple_bind`.

        Their shapes follow from those given by argument name. Names of no argument are ignored, as in MXNet.
        """
        for key, stype in (stype_dict or {}).items():
            check_dense(f"simple_bind: {key!r}", stype)
        known = {key: known_shape(value) for key, value in shapes.items() if value is not None}
        types = {key: as_dtype(value) for key, value in (type_dict or {}).items()}
        target = as_context(ctx, "simple_bind")
        sharing = (shared_exec, shared_arg_names, shared_buffer)
        graph = bindable_graph("simple_bind", self.entries)
        return simple_bind(graph, target, known, types, grad_req, group2ctx, *sharing)

    def eval(self, ctx: Context | None = None, **arrays: NDArray) -> list[NDArray]:
        """The outputs for the given arguments, computed once."""
        return self.bind(ctx, arrays, grad_req="null").forward()

    @classmethod
    def _function_of(cls, operator: str) -> Callable[..., Any]:
        return symbol_function(operator, cls)

    def __copy__(self) -> Symbol:
        return Symbol(self.entries)

    def __deepcopy__(self, _: Any) -> Symbol:
        return Symbol(copied(self.entries))

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_json, (self.tojson(),)

    def __repr__(self) -> str:
        return f"<Symbol {self.name or 'group [' + ', '.join(node.name for node, _ in self.entries) + ']'}>"


def _from_json(text: str) -> Any:
    """For pickling: what a plugin makes of the text that it made of a symbol."""
    return registry.get_attribute("sym", "load_json")(text)


def shown_types(table: TypeTable) -> TypeLists:
    """The types of a table as `NDArray.dtype` has them."""
    lists: Any = (table.arguments, table.outputs, table.auxiliary)
    return tuple([dtype and registry.shown_dtype(dtype) for dtype in dtypes] for dtypes in lists)  # type: ignore[return-value]


def _visible(node: Any) -> int:
    return num_heads(node.op) if isinstance(node, OpNode) else 1


@boundary
def Group(symbols: Sequence[Symbol], create_fn: type[Symbol] = Symbol) -> Symbol:  # noqa: N802 - MXNet's name
    """One symbol with the outputs of all; there is one class of symbols that `create_fn` can be."""
    if not symbols or any(not isinstance(symbol, Symbol) for symbol in symbols):
        raise ArgumentError(f"Group: expected a non-empty list of symbols, got {symbols!r}")
    return Symbol([entry for symbol in symbols for entry in symbol.entries])


def __getattr__(name: str) -> Any:
    """The names of `operad.sym`: MXNet's module of this name defines functions, too."""
    if name.startswith("__") and name != "__all__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(sys.modules["operad.symbol"], name)
