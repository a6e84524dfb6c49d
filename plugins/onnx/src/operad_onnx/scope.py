"""Values, shapes and types of a model that is being read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, final

import numpy as np

import operad
from operad.errors import UnsupportedError
from operad.graph import Entry, OpNode
from operad.symbol import Symbol
from operad_onnx.names import unique

_NUM_PROBES: Final = 2


@final
class Facts(NamedTuple):
    """Shapes of a value for two sets of lengths that differ from run to run, and its element type."""

    shapes: tuple[tuple[int, ...], ...]
    dtype: np.dtype[Any]


@final
class Value:
    """A value of a model: numbers that are known, a symbol, or numbers that became one.

    Attributes:
        name: In the model.
        array: The numbers, where they are known.
    """

    __slots__ = ("_symbol", "array", "name")

    def __init__(
        self, name: str, array: np.ndarray[Any, Any] | None = None, symbol: Symbol | None = None
    ) -> None:
        self.name = name
        self.array = array
        self._symbol = symbol

    def symbol(self, scope: Scope) -> Symbol:
        """The value as a symbol; numbers become a parameter."""
        if self._symbol is None:
            assert self.array is not None
            self._symbol = scope.parameter(self.name, self.array)
        return self._symbol


@final
class Scope:
    """Everything that is known of the symbol so far.

    Attributes:
        params: Arrays of its parameters.
    """

    def __init__(self) -> None:
        self.params: dict[str, np.ndarray[Any, Any]] = {}
        self._facts: dict[Entry, Facts] = {}
        self._names: dict[str, int] = {}
        self._variables: set[str] = set()

    def unique(self, name: str) -> str:
        """A name that no node has yet, like `name`."""
        return unique(name, self._names)

    def parameter(self, name: str, array: np.ndarray[Any, Any]) -> Symbol:
        """A variable whose array is known; called otherwise where one has its name."""
        name = self.unique(name) if name in self._variables else name
        self.params[name] = array
        return self.variable(name, Facts((array.shape,) * _NUM_PROBES, array.dtype))

    def variable(self, name: str, facts: Facts) -> Symbol:
        """A variable."""
        self._names.setdefault(name, 0)
        self._variables.add(name)
        symbol = operad.sym.var(name)
        self.know(symbol, facts)
        return symbol

    def know(self, variable: Symbol, facts: Facts) -> None:
        """Take down shapes and type of a variable."""
        self._facts[variable.entries[0]] = facts

    def facts(self, symbol: Symbol) -> Facts:
        """Shapes and type of a symbol's first output."""
        return self._facts[symbol.entries[0]]

    def note(self, symbol: Symbol) -> None:
        """Infer shapes and types of a symbol that was just made of known ones."""
        node = symbol.entries[0].node
        assert isinstance(node, OpNode)
        self._infer(node)

    def _infer(self, node: OpNode) -> None:
        given = [self._facts.get(entry) for entry in node.args]
        shapes = [node.op.infer_shape([f and f.shapes[probe] for f in given]) for probe in range(_NUM_PROBES)]
        types: Any = node.op.infer_type([f and f.dtype for f in given])
        for entry in node.entries:
            found: Any = tuple(shape[1][entry.index] for shape in shapes)
            if any(shape is None or None in shape for shape in found) or types[1][entry.index] is None:
                raise UnsupportedError(
                    f"the shape of {entry.name!r} does not follow; give shapes of the inputs"
                )
            self._facts[entry] = Facts(found, np.dtype(types[1][entry.index]))


class NeedsValueError(UnsupportedError):
    """A rule needs the numbers of an input that is known only when the model runs.

    Attributes:
        inputs: The inputs of the model that it is computed from.
    """

    def __init__(self, message: str, inputs: Sequence[str]) -> None:
        super().__init__(message)
        self.inputs = inputs
