"""The docstrings of operators that are declared in one line."""

from __future__ import annotations


def doc(name: str, summary: str, rhs: str, output: str) -> str:
    """The docstring of a broadcast operator.

    Args:
        name: What the example calls.
        summary: What the operator computes of each pair, a full sentence.
        rhs: The example's second operand, a list beside the column 1, 2.
        output: What it gives, as NumPy prints it.
    """
    return f"""{summary}

Shapes:
    lhs: (...)
    rhs: (...), which broadcasts with lhs.
    output: What both broadcast to.

Example:
    >>> import operad as od
    >>> od.nd.{name}(od.nd.array([[1], [2]]), od.nd.array({rhs})).asnumpy()
    array({output}, dtype=float32)
"""
