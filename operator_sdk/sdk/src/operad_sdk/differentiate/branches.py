"""Forms of functions of arrays, and of arrays and numbers.

Of a function of numbers there is a form for each way that they lead through it. The function is traced with
the numbers of a call. What it asked of them, one question after another, is a path in a tree; a later call
asks the same questions of its own numbers and so finds the form of its path, or that there is none yet. So a
form is never used for numbers for which the function would have done otherwise, and no value of a number is
in a form: neither chance, such as a product that is 1 in one call, nor NaN changes that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import DTypeLike

from operad.locks import new_lock
from operad.operator import ScalarForm
from operad_sdk.differentiate.form import form_of
from operad_sdk.differentiate.numbers import CallNumber, NumberTrace, text_of
from operad_sdk.differentiate.tracing import FORM, Node, Traced


def elements_form(function: Callable[..., Sequence[Traced]], **types: DTypeLike) -> ScalarForm:
    """The form of a function of arrays of one shape, whose parameters name the inputs.

    Args:
        function: Computes arrays of that shape by NumPy's functions of elements.
        types: Of inputs that have not the type for which the form is used.
    Raises:
        TraceError: It does something else; the message says what.
    """
    names = list(signature(function).parameters)
    inputs = [
        (name, _input(np.full((2, 3), 0.5 + i).astype(types.get(name, np.float32))))
        for i, name in enumerate(names)
    ]
    results = [(f"result{i}", one) for i, one in enumerate(function(*[cell for _, cell in inputs]))]
    return form_of(function.__name__, inputs, results)[0]


@final
class BranchForm(NamedTuple):
    """The form of one way through a function.

    Attributes:
        number: Its number among those of the function, from 1.
        form: Its inputs are arrays of the function and then numbers, of one element each.
        read: Positions of the arrays that are inputs.
        written: Positions of the arrays that are results.
    """

    number: int
    form: ScalarForm
    read: Sequence[int]
    written: Sequence[int]


_Tree = dict[Any, Any]
"""A question, and what comes next for each answer: another one, or the text of what was found. What asks
nothing stands behind "yes"."""


@final
class Branches:
    """Findings for each way through a function of numbers.

    Args:
        names: Names of the numbers.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._known: dict[str, Any] = {}
        self._tree: _Tree = {}
        self._count = 0
        self._lock = new_lock()
        self._find: Callable[..., tuple[Any, tuple[Any, ...]] | None] = lambda *_: None

    def find(
        self, numbers: Sequence[Any], trace: Callable[[Sequence[Any]], None]
    ) -> tuple[Any, tuple[Any, ...]]:
        """Return what was found for the way of a call, and the numbers that meet arrays in it.

        Args:
            numbers: Of the call.
            trace: Called with them where nothing is known, to append what it finds.

        Raises:
            ArithmeticError: The function's own arithmetic raises it.
        """
        found = self._find(*numbers)
        if found is None:
            with self._lock:
                if self._find(*numbers) is None:
                    trace(numbers)
            found = self._find(*numbers)
            assert found is not None, "the function asks of equal numbers different questions"
        return found

    def append(self, trace: NumberTrace, found: object, texts: Sequence[str]) -> None:
        """Append what was found for the way of a trace, and the texts of the numbers that it takes."""
        at, answer = self._tree, True
        for question, given in trace.questions:
            at = at.setdefault(answer, {"question": question})
            answer = given
        name = f"found{self._count}"
        self._count += 1
        self._known |= {name: found, **trace.known}
        at[answer] = f"({name}, ({''.join(f'{text}, ' for text in texts)}))"
        text = f"lambda {', '.join(map(text_of, self._names))}: {_text(self._tree.get(True))}"
        self._find = eval(text, dict(self._known))  # noqa: S307 - it holds nothing but what `CallNumber` writes


@final
class BranchForms:
    """The forms of a function of arrays of one shape and type, which it writes in place, and of numbers.

    Args:
        function: Takes the arrays and then the numbers, and computes by NumPy's functions of elements.
        arrays: Names of the arrays.
        numbers: Names of the numbers.
    """

    def __init__(
        self, function: Callable[..., object], arrays: Sequence[str], numbers: Sequence[str]
    ) -> None:
        self._function = function
        self._arrays = arrays
        self._numbers = numbers
        self._branches = Branches(numbers)
        self._count = 0

    def __call__(self, *numbers: Any) -> tuple[BranchForm, tuple[float, ...]]:
        """The form for the numbers of a call, and its own numbers, in double precision.

        Raises:
            TraceError: The function is none of elements; the message says why.
        """
        return self._branches.find(numbers, self._trace)

    def _trace(self, numbers: Sequence[Any]) -> None:
        cells = [_input(np.full((2, 3), 0.5 + i, np.float32)) for i, _ in enumerate(self._arrays)]
        before = [cell.node for cell in cells]
        trace = NumberTrace(number_input, np.dtype(np.float32))
        given = [CallNumber(trace, *one) for one in zip(map(text_of, self._numbers), numbers, strict=True)]
        with np.errstate(all="ignore"):
            self._function(*cells, *given)
        written = [i for i, node in enumerate(before) if cells[i].node is not node]
        results = [(self._arrays[i], cells[i]) for i in written]
        inputs = [(name, Traced(node)) for name, node in zip(self._arrays, before, strict=True)]
        inputs += [(f"number{i}", cell) for i, cell in enumerate(trace.inputs.values())]
        of = {name: text for (name, _), (text, _) in zip(inputs[len(cells) :], trace.inputs, strict=True)}
        name = self._function.__name__
        names = form_of(name, inputs, results)[0].inputs_read
        form, _ = form_of(name, [one for one in inputs if one[0] in names], results)
        read = [i for i, one in enumerate(self._arrays) if one in names]
        self._count += 1
        self._branches.append(
            trace, BranchForm(self._count, form, read, written), [of[one] for one in names if one in of]
        )


def _text(tree: _Tree | str | None) -> str:
    """The tree as an expression; None where nothing is known."""
    if not isinstance(tree, dict):
        return str(tree)
    return f"({_text(tree.get(True))} if {tree['question']} else {_text(tree.get(False))})"


def number_input(value: Any, dtype: DTypeLike) -> Traced:
    """Array of one element that a number is in a trace for forms."""
    return _input(np.asarray(value, dtype))


def _input(value: Any) -> Traced:
    return Traced(Node(FORM, value, is_input=True))
