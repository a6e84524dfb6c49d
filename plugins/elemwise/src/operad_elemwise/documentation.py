"""The docstrings of operators that are declared in one line."""

from __future__ import annotations


def unary_doc(name: str, summary: str, data: str, output: str, parameters: str = "") -> str:
    """The docstring of an operator of one array.

    Args:
        name: What the example calls.
        summary: What the operator computes, a full sentence.
        data: The example's input, as a list; `output` is what it gives, rounded to four places,
            as NumPy prints it.
        parameters: The example's parameters, as in a call.
    """
    return _doc(summary, ["data"], name, [data], output, parameters)


def binary_doc(name: str, summary: str, lhs: str, rhs: str, output: str) -> str:
    """The docstring of an operator of two arrays; else as `unary_doc`."""
    return _doc(summary, ["lhs", "rhs"], name, [lhs, rhs], output, "")


def _doc(
    summary: str, arguments: list[str], name: str, values: list[str], output: str, parameters: str
) -> str:
    shapes = "\n".join(f"    {argument}: (...)" for argument in [*arguments, "output"])
    inputs = [f"od.nd.array({value})" for value in values]
    call = ", ".join([*inputs, *filter(None, [parameters])])
    return f"""{summary}

Shapes:
{shapes}

Example:
    >>> import operad as od
    >>> od.nd.{name}({call}).asnumpy().round(4)
    array({output}, dtype=float32)
"""
