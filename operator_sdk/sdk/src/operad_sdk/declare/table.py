"""Families of operators as tables: one `define` per operator, with its formula, gradient and example.

What all of a family have in common is said once, by a function of the plugin that calls `define`::

    def _unary(name, function, gradient, summary, example, **options):
        return define(name, UNARY, function, gradient, summary=summary, example=example, **options)

    square = _unary("square", np.square, lambda output_grad, data: 2 * output_grad * data,
                    "`y = x^2`; `dy/dx = 2 x`.", ("[3]", "[9.]"))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Unpack

from operad_sdk.contract import Contract
from operad_sdk.declare.decorators import Options, from_function
from operad_sdk.declare.function import names_of, split_pairs
from operad_sdk.declare.property import OperatorProperty
from operad_sdk.shapes import parse

Function = Callable[..., Any]


def define(
    name: str,
    spec: str,
    function: Any,
    gradient: Function | Mapping[str, Function] | None = None,
    *,
    summary: str,
    example: tuple[str, ...],
    reference: Function | None = None,
    gradient_inplace: str = "",
    source: str = "",
    **options: Unpack[Options],
) -> type[OperatorProperty]:
    """Declare one operator of a family.

    Args:
        name: MXNet 1.x's name of the operator.
        spec: Its shape line.
        function: A ufunc, or a function as for `@unary`.
        gradient: The gradient, or one for each argument by name; None: no gradient flows.
        summary: What it computes and its derivative, in a sentence or two.
        example: The arguments of a call as they are written, arrays as lists, and the result as NumPy
            prints it, rounded to four places: `("[1, 2]", "scalar=3", "[3., 6.]")`.
        reference: The definition, in NumPy; `contract` says more.
        gradient_inplace: What each gradient that reads it may overwrite; several names after commas.
        source: Where MXNet 1.x has it.
        options: As for `operator`.
    """
    if reference is not None:
        options.setdefault("contract", Contract(reference=reference))
    options.setdefault("doc", documentation(name, spec, summary, example, source))
    made = from_function(name, spec, function, **options)
    gradients = gradient if isinstance(gradient, Mapping) else {"": gradient}
    for argument, one in gradients.items():
        if one is not None:
            taken = names_of(one, f"the gradient of {name!r}")
            inplace = [own for own in split_pairs(gradient_inplace) if own in taken]
            targets = [argument] if argument else [item.name for item in parse(spec).arguments]
            made.gradient(*targets, inplace=inplace)(one)
    return made


def documentation(name: str, spec: str, summary: str, example: tuple[str, ...], source: str = "") -> str:
    """The documentation of an operator of a table; arguments as for `define`."""
    *given, result = example
    values = ", ".join(f"od.nd.array({value})" if value[:1] in "[-0123456789" else value for value in given)
    line = parse(spec)
    shapes = "\n".join(f"    {item.name}: {item.shape_text}" for item in (*line.inputs, *line.outputs))
    lines = (result if "(" in result else f"array({result}, dtype=float32)").replace("\n", "\n    ")
    rounded = "" if "False" in result or "True" in result else ".round(4)"  # bools cannot be rounded
    text = f"""{summary}

Shapes:
{shapes}

Example:
    >>> import operad as od
    >>> od.nd.{name}({values}).asnumpy(){rounded}
    {lines}
"""
    return f"{text}\nSource: {source}\n" if source else text
