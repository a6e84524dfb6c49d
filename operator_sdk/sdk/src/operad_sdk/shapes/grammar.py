"""Reading the shape language.

::

    line    = [items] ["; aux" items] "->" items [";" test {"," test}]
    items   = item {("," | "&") item}
    item    = ["state" | "hidden" ["train"]] name ["[" count "]"] ":" [type] "(" axes ")" ["if" test]
    axes    = nothing, or axis {"," axis}
    axis    = expression | "*" expression | "..."
    type    = an element type's name | "any" | a parameter | a variable such as T

`"data:(N, D), weight:(num_hidden, D), bias:(num_hidden) if not no_bias -> output:(N, num_hidden)"`:
a name that the operator has as a parameter (or other attribute) is that value, any other is a size
to be found. `*S` is any number of axes, and `...` is the same without a name. `arg[num_args]:(...)`
stands for arg0, arg1, and so on; `S[i]` in it is a name for each of them, and `S` elsewhere all of these.
`i` alone in it is the number of each: `output[n]:(*part(S, i, n))`.
Repeated items with `&` between them take turns: `w[n]:(N) & g[n]:(N)` is w0, g0, w1, g1.
An item marked `state` is updated by the operator; it may stand anywhere among the arguments, and all of
them may stand behind `; aux` instead. Outputs marked `hidden` come last and are not shown to callers;
those marked `hidden train` may stay unwritten in prediction.
All items without a type have one type in common; `any` is a type of its own.
Behind the outputs stand bounds on sizes, such as `; D >= 1, N > D, D >= k` with a parameter `k`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple, NoReturn, final

from operad.first_use import parse_source
from operad_sdk.errors import SpecError
from operad_sdk.shapes.expressions import Expression, compile_expression

_HEAD: Final = re.compile(
    r"(?:(?P<hidden>hidden)\s+(?P<train>train\s+)?|(?P<state>state)\s+)?(?P<name>[A-Za-z_]\w*)\s*(?:\[(?P<count>.+)\])?$"
)
_EACH: Final = re.compile(r"\b([A-Za-z_]\w*)\[i\]")
_NUMBER: Final = re.compile(r"\bi\b")
_TYPE: Final = re.compile(r"[A-Za-z_]\w*$")


@final
class Axis(NamedTuple):
    """One axis, or with `is_starred` as many as its sequences have."""

    expression: Expression
    is_starred: bool
    text: str


@final
class Item(NamedTuple):
    """One argument, auxiliary state or output.

    Attributes:
        name: Its name; the stem of the names where there is a `repeat`.
        type: Type word; empty: the common type.
        condition: Present only where this is true; None: always.
        shape_text: The axes as written, with parentheses.
        is_train_only: Whether it may stay unwritten in prediction.
        is_state: Whether it is an auxiliary state.
        takes_turns: Whether it is repeated alternately with the item before it.
    """

    name: str
    axes: tuple[Axis, ...]
    type: str
    repeat: Expression | None
    condition: Expression | None
    is_hidden: bool
    shape_text: str
    text: str
    is_train_only: bool = False
    is_state: bool = False
    takes_turns: bool = False

    def numbered(self, index: int) -> tuple[Axis, ...]:
        """Axes of number `i` of a repeated item, in which `S[i]` is a name of its own."""
        inside = _EACH.sub(rf"\1__{index}", self.shape_text[1:-1])
        return _Reader(self.text).axes(_NUMBER.sub(str(index), inside))

    @property
    def is_each_its_own(self) -> bool:
        """True if the axes of repeated items differ in names or numbers."""
        return _NUMBER.search(self.shape_text) is not None


@final
class Spec(NamedTuple):
    """A line that has been read.

    Attributes:
        inputs: Arguments and states in the order of a call.
        names: Every name that its expressions, types and bounds use.
        sequences: Names that are many sizes: those used under a star and nowhere for one size.
        functions: Functions of the operator's own that its expressions call.
        bounds: Tests that sizes pass, each with its text.
    """

    text: str
    inputs: tuple[Item, ...]
    outputs: tuple[Item, ...]
    names: frozenset[str]
    sequences: frozenset[str]
    functions: frozenset[str]
    bounds: tuple[tuple[Expression, str], ...] = ()

    @property
    def arguments(self) -> tuple[Item, ...]:
        """Inputs that are not states."""
        return tuple(item for item in self.inputs if not item.is_state)

    @property
    def auxiliary(self) -> tuple[Item, ...]:
        """The states."""
        return tuple(item for item in self.inputs if item.is_state)

    @property
    def items(self) -> tuple[Item, ...]:
        """All arguments, states and outputs, in order."""
        return self.inputs + self.outputs


@cache
def parse(text: str) -> Spec:
    """Read a line of the shape language; the same line is read once.

    Raises:
        SpecError: With the line and the part that cannot be read.
    """
    reader = _Reader(text)
    left, arrow, right = text.partition("->")
    if not arrow:
        reader.fail(text, "there is no '->' before the outputs")
    arguments, semicolon, auxiliary = left.partition(";")
    if semicolon and auxiliary.split()[:1] != ["aux"]:
        reader.fail(auxiliary, "expected 'aux' and the auxiliary states after ';'")
    inputs = reader.items(arguments)
    states = reader.items(auxiliary.strip().removeprefix("aux"))
    inputs += [item._replace(is_state=True) for item in states]
    right, _, bounded = right.partition(";")
    outputs = reader.items(right)
    items = [*inputs, *outputs]
    functions = frozenset[str]().union(*(part.functions for item in items for part in _expressions(item)))
    bounds = tuple((reader.bound(part), part) for part in _split(bounded))
    names = names_of(items).union(*(test.names for test, _ in bounds))
    spec = Spec(text, tuple(inputs), tuple(outputs), names, sequences_of(items), functions, bounds)
    reader.check(spec)
    return spec


class _Reader:
    """Reads the parts of one line; knows the line for messages."""

    def __init__(self, text: str) -> None:
        self._text = text

    def fail(self, part: str, why: str) -> NoReturn:
        raise SpecError(f"shape line {self._text!r}: {why} (at {part.strip()!r})")

    def items(self, text: str) -> list[Item]:
        """The items between commas, of which those with `&` between them take turns."""
        found: list[Item] = []
        for part in _split(text):
            turns = [self.item(one) for one in _split(part, "&")]
            counts = {one.text.partition(":")[0].partition("[")[2] for one in turns}
            is_odd = len(counts) > 1 or "" in counts or any(one.condition for one in turns)
            if len(turns) > 1 and is_odd:
                self.fail(part, "items that take turns have one [count], and no condition")
            found += [turns[0], *(one._replace(takes_turns=True) for one in turns[1:])]
        return found

    def item(self, text: str) -> Item:
        before, colon, after = text.partition(":")
        head = _HEAD.match(before.strip())
        opening = after.find("(")
        if not head or not colon or opening < 0:
            self.fail(text, "expected name:(axes)")
        closing = _matching(after, opening)
        if closing < 0:
            self.fail(text, "a parenthesis is not closed")
        word, inside, tail = (
            after[:opening].strip(),
            after[opening + 1 : closing],
            after[closing + 1 :].strip(),
        )
        if word and not _TYPE.match(word):
            self.fail(word, "expected an element type before the axes")
        if tail and not tail.startswith("if "):
            self.fail(tail, "expected ',' or 'if' after the axes")
        return Item(
            head["name"],
            self.axes(inside),
            word,
            self._expression(head["count"]) if head["count"] else None,
            self._expression(tail.removeprefix("if ")) if tail else None,
            head["hidden"] is not None,
            f"({inside.strip()})",
            text.strip(),
            head["train"] is not None,
            head["state"] is not None,
        )

    def bound(self, text: str) -> Expression:
        """A test behind the outputs."""
        found = self._expression(text)
        if not found.tests:
            self.fail(text, "expected a test of sizes behind ';', such as D >= 1")
        return found

    def axes(self, inside: str) -> tuple[Axis, ...]:
        """The axes between two parentheses."""
        return tuple(self._axis(part) for part in _split(inside))

    def _axis(self, text: str) -> Axis:
        if text == "...":
            return Axis(self._expression(text), True, text)
        return Axis(self._expression(text.removeprefix("*")), text.startswith("*"), text)

    def _expression(self, text: str) -> Expression:
        try:
            return compile_expression(parse_source(text.strip(), "eval").body)
        except SyntaxError as error:
            raise SpecError(f"shape line {self._text!r}: cannot read {text.strip()!r}: {error.msg}") from None
        except (RecursionError, MemoryError):
            # How Python says that an expression has too many parts; the whole line would fill pages.
            start = f"shape line {self._text[:60]!r}...: {text.strip()[:60]!r}..."
            raise SpecError(f"{start} has too many terms; write infer_shape instead") from None
        except SpecError as error:
            raise SpecError(f"shape line {self._text!r}: {error}") from None

    def check(self, spec: Spec) -> None:
        """Refuse lines that are well formed and have no meaning."""
        if not spec.outputs:
            self.fail(spec.text, "there is no output")
        for group in (spec.inputs, spec.outputs):
            names = Counter(item.name for item in group if item.condition is None)
            for name, times in names.items():
                if times > 1:
                    self.fail(name, f"{name!r} is there twice")
        for item in spec.inputs:
            if item.is_hidden:
                self.fail(item.text, "only outputs can be hidden")
        for item in spec.outputs:
            if item.is_state:
                self.fail(item.text, "an output cannot be a state")
        hidden = [item.is_hidden for item in spec.outputs]
        if hidden != sorted(hidden):
            self.fail(spec.outputs[hidden.index(True)].text, "hidden outputs come last")


def _expressions(item: Item) -> list[Expression]:
    parts = [axis.expression for axis in item.axes]
    return [*parts, *(part for part in (item.repeat, item.condition) if part)]


def names_of(items: Sequence[Item]) -> frozenset[str]:
    """Names that the axes, counts, conditions and types of items use."""
    parts = [part for item in items for part in _expressions(item)]
    return frozenset(item.type for item in items).union(*(part.names for part in parts))


def sequences_of(items: Sequence[Item]) -> frozenset[str]:
    """Names that stand for several sizes."""
    axes = [axis for item in items for axis in item.axes]
    starred = {name for axis in axes if axis.is_starred for name in axis.expression.indexed}
    plain = {name for axis in axes if not axis.is_starred for name in axis.expression.indexed}
    return frozenset(starred - plain)


def _split(text: str, separator: str = ",") -> list[str]:
    """`text` at its commas outside parentheses; nothing for blank text."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == separator and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts  # a comma may end a list, as in (N,)


def _matching(text: str, opening: int) -> int:
    depth = 0
    for position in range(opening, len(text)):
        depth += (text[position] == "(") - (text[position] == ")")
        if depth == 0:
            return position
    return -1
