"""Parameters and shapes to look at an operator with, where the user gave none.

Which arguments an operator has, and which kernel it takes, depends on its parameters and shapes. The
commands therefore make up what is missing, say what they made up, and let the user give it instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

import click

from operad.cli.page import Mark, Page
from operad.errors import OperadError, ParamError, ShapeError
from operad.op import OperatorProperty, Param, PartialShape, Shape, is_known

_VALUES: Final[Mapping[str, Sequence[Any]]] = {
    "int": (2, 1, 3, 0, -1),
    "float": (0.5, 1.0, 2.0, 0.0, -1.0),
    "bool": (False, True),
    "str": ("",),
    "shape": ((2, 2), (2,), (1, 1), (1,)),
    "indices": ((0,), (0, 0), (1,)),
    "floats": ((0.5,), (1.0,), (0.0,), (0.5, 0.25, 0.125)),
    "dtype": ("float32", "int32"),
}
_AXES: Final = (2, 3, 8, 8, 8)
_RANKS: Final = (2, 4, 3, 1, 5, 0)


def sample_property(
    op: type[OperatorProperty], given: Mapping[str, Any], shapes: Sequence[Shape] = ()
) -> OperatorProperty:
    """The operator with the parameters in `given`, and something fitting for others it requires.

    An operator may declare defaults that it refuses, such as an empty `kernel`; then one of those
    not given is changed, too.

    Args:
        shapes: Of leading arguments that it has to go with.

    Raises:
        ParamError: A given parameter does not fit, or nothing fitting was found.
    """
    made_up = {name: _value(declared) for name, declared in op.params.items() if declared.is_required}
    params = {**made_up, **given}
    changed = _accepted(op, params, [name for name in op.params if name not in given])
    try:
        plain = op(**params)
    except OperadError:
        found = next(changed, None)
        if found is None:
            raise
        plain = found
    return next((prop for prop in chain([plain], changed) if _fits(prop, shapes)), plain)


def expect_no_more(prop: OperatorProperty, shapes: Sequence[Shape]) -> None:
    """Raise UsageError if there are more shapes than arguments."""
    names = prop.list_arguments()
    if len(shapes) > len(names):
        expected = f"{len(names)} arguments ({', '.join(names)})"
        raise click.UsageError(f"{prop.name} takes {expected}, got {len(shapes)} shapes")


def variants(prop: OperatorProperty) -> Iterator[OperatorProperty]:
    """The operator as it is, and with one parameter at a time set to each other value worth trying."""
    yield prop
    params = {name: getattr(prop, name) for name in type(prop).params}
    yield from _accepted(type(prop), params, params)


def sample_shapes(prop: OperatorProperty, given: Sequence[Shape] = ()) -> list[Shape] | None:
    """Shapes of all arguments: those given for the first, the others inferred or made up.

    None where nothing fitting was found.

    Raises:
        ShapeError: The given shapes contradict each other, or there are too many.
    """
    count = len(prop.list_arguments())
    if len(given) > count:
        raise ShapeError(f"{prop.name}: got {len(given)} shapes, expected {count}, one per argument")
    if not count:
        return []
    unknown: list[PartialShape] = [None] * count
    if given:
        inferred = prop.infer_shape([*given, *unknown[len(given) :]])[0]
        return _known(inferred) or _inferred(prop, [*given, *[given[-1]] * (count - len(given))])
    for rank in _RANKS:
        first: Shape = _AXES[:rank]
        found = _inferred(prop, [first, *unknown[1:]]) or _inferred(prop, [first] * count)
        if found is not None:
            return found
    return None


def _accepted(
    op: type[OperatorProperty], params: Mapping[str, Any], changed: Iterable[str]
) -> Iterator[OperatorProperty]:
    """The operator for `params` with one of `changed` at a time set to another value, where it takes that."""
    for name in changed:
        for value in _values(op.params[name]):
            if name in params and value == params[name]:
                continue
            try:
                yield op(**{**params, name: value})
            except OperadError:
                continue


def _fits(prop: OperatorProperty, shapes: Sequence[Shape]) -> bool:
    try:
        return sample_shapes(prop, shapes) is not None
    except OperadError:
        return False


def _inferred(prop: OperatorProperty, shapes: Sequence[PartialShape]) -> list[Shape] | None:
    try:
        arguments, outputs, _ = prop.infer_shape(shapes)
    except OperadError:
        return None
    return _known(arguments) if all(map(is_known, outputs)) else None


def _known(shapes: Sequence[PartialShape]) -> list[Shape] | None:
    known = [tuple(axis for axis in shape if axis is not None) for shape in shapes if shape is not None]
    return known if all(map(is_known, shapes)) else None


def _value(declared: Param) -> Any:
    for value in _values(declared):
        return value
    raise ParamError(
        f"cannot make up a value for parameter {declared.name!r}, {declared.expects()}; "
        f"give --param {declared.name}=..."
    )


def _values(declared: Param) -> Iterator[Any]:
    word = declared.type if isinstance(declared.type, str) else declared.type.__name__
    likely = declared.choices or _VALUES.get(word, ())
    # A bound that no likely value meets is met by its neighbour.
    numbers = [bound + step for bound in declared.bounds.values() for step in (0, 1, -1)]
    for value in [*likely, *(numbers if word in ("int", "float") else ())]:
        try:
            yield declared.parse(value)
        except ParamError:
            continue
    if declared.optional:
        yield None


def show_call(
    page: Page, operator: str, params: Mapping[str, str], shapes: Sequence[Sequence[int]],
    dtypes: Sequence[str], further: tuple[str, str],
) -> None:  # fmt: skip
    """Show an operator with its parameters, then its arguments and one line more."""
    given = ", ".join(f"{name}={value}" for name, value in params.items())
    page.text(Mark(f"{operator}({given})", "name"))
    arrays = [f"{tuple(shape)} {dtype}" for shape, dtype in zip(shapes, dtypes, strict=True)]
    page.pairs([("arguments", ", ".join(arrays) or "none"), further])
