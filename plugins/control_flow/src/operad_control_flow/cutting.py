"""Cut the graph that a function makes out of the graph around it.

Symbols that are made while the function runs carry the attribute `__subgraph_name__`. They are inside, and
so is whatever reads them. An edge from outside becomes a variable inside: a weight keeps its name, the
output of an operator gives its own.

Source: _cut_subgraph, python/mxnet/symbol/contrib.py. Differs: symbols composed before, of which the function
replaces arguments, are inside; variables that have one name are distinguished.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Final, Generic, TypeVar, final

from operad import Symbol, sym
from operad.graph import Entry, Graph, Node, OpNode, Variable, rebuilt, topological_order
from operad.symbol.name import NameManager

T = TypeVar("T")

_SUBGRAPH: Final = "__subgraph_name__"


@final
class Traced(Generic[T]):
    """A function of symbols that has been called once.

    Args:
        name: Its operators are marked with this name, and a number.
        arguments: Symbols outside, of one output each; the function is called with variables that stand for
            them.
        function: The function.

    Attributes:
        result: What it gave.
    """

    def __init__(self, name: str, arguments: Sequence[Symbol], function: Callable[[list[Symbol]], T]) -> None:
        with _marked(name) as self._label:
            inside = [sym.var(_inner_name(argument)) for argument in arguments]
            self.result = function(inside)
        self._arguments = [symbol.entries[0].node for symbol in inside]

    def cut(self, outputs: Sequence[Symbol]) -> Cut:
        """The graph of `outputs`, which are among what the function gave."""
        return Cut(outputs, self._arguments, self._label)


@final
class Cut:
    """A graph that was cut out.

    Args:
        outputs: Its outputs, in the graph around it.
        arguments: The variables that stand for the function's arguments.
        label: Value of the attribute.

    Attributes:
        graph: The graph.
        inputs: What each of its variables is, in the order of a file: the number of an argument, or the entry
            outside.
    """

    def __init__(self, outputs: Sequence[Symbol], arguments: Sequence[Node], label: str) -> None:
        entries = [entry for symbol in outputs for entry in symbol.entries]
        nodes = topological_order(entries)
        inside = _inside(nodes, set(arguments), label)
        self._names: set[str] = set()
        self._variables: dict[Entry, Variable] = {}
        self._renewed: dict[Node, Node] = {}
        for node in nodes:
            if node in inside:
                self._renewed[node] = rebuilt(
                    node, [self._now(entry) for entry in node.inputs], self._renewed
                )
        self.graph = Graph(_copied_apart([self._now(entry) for entry in entries], label))
        number_of = {node: number for number, node in enumerate(arguments)}
        stands_for = {made: entry for entry, made in self._variables.items()}
        entries = [stands_for[node] for node in self.graph.nodes if isinstance(node, Variable)]
        self.inputs: list[int | Entry] = [number_of.get(entry.node, entry) for entry in entries]

    def _now(self, entry: Entry) -> Entry:
        """The entry inside that stands for one of before."""
        if entry.node in self._renewed:
            return Entry(self._renewed[entry.node], entry.index)
        found = self._variables.get(entry)
        if found is None:
            attrs = entry.node.attrs if isinstance(entry.node, Variable) else {}
            found = self._variables[entry] = Variable(self._new_name(entry.name), attrs=attrs)
        return Entry(found)

    def _new_name(self, name: str) -> str:
        chosen = next(one for i in count() if (one := f"{name}_{i}" if i else name) not in self._names)
        self._names.add(chosen)
        return chosen


@contextmanager
def _marked(name: str) -> Iterator[str]:
    """Mark the symbols made in the scope; of scopes in scopes, with the names of all."""
    outer = sym.AttrScope.current.get({}).get(_SUBGRAPH)
    label = NameManager.current.get(None, name if outer is None else f"{outer}${name}")
    with sym.AttrScope(**{_SUBGRAPH: label}):
        yield label


def _inner_name(symbol: Symbol) -> str:
    (entry,) = symbol.entries
    return f"{entry.node.name}-{entry.index}"


def _inside(nodes: Sequence[Node], arguments: set[Node], label: str) -> set[Node]:
    """The operators that were made in the scope, or read the arguments."""
    found: set[Node] = set()
    for node in nodes:
        if isinstance(node, OpNode):
            reads = any(entry.node in found or entry.node in arguments for entry in node.inputs)
            if reads or node.attrs.get(_SUBGRAPH) == label:
                found.add(node)
    return found


def _copied_apart(outputs: Sequence[Entry], label: str) -> list[Entry]:
    """Outputs with copies for variables, and for an output that comes twice, as in MXNet's files."""
    made: list[Entry] = []
    for entry in outputs:
        is_apart = isinstance(entry.node, OpNode) and entry not in made
        if is_apart:
            made.append(entry)
        else:
            with sym.AttrScope(**{_SUBGRAPH: label}):
                made.append(sym.identity(Symbol([entry])).entries[0])
    return made
