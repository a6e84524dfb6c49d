"""Checking functions of PyTorch from Python and from pytest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from operad_check import OperatorReport, check_foreign, foreign_suite


def check_torch(function: str | Callable[..., Any], line: str, **options: Any) -> OperatorReport:
    """Check a function of PyTorch.

    Args:
        function: The function, a text that names it, `"torch.nn.functional:normalize"`, or an expression of
            the line's arguments, `"torch.median(x, -1).values"`.
        line: The shapes of its arguments and results, `"x:(N, D) -> y:(N)"`.
        options: As for `operad_check.check_foreign`.

    Raises:
        ArgumentError: There is no such function, or PyTorch is not installed.
        SpecError: The line cannot be read.
    """
    return check_foreign("torch", function, line, **options)


def torch_suite(table: Mapping[str, Any], **options: Any) -> Callable[..., None]:
    """A test function for pytest with one case for each function of a table and each check.

    Args:
        table: By name a function and its line, and possibly a contract, as for `check_torch`.
        options: As for `operad_check.foreign_suite`.

    Raises:
        ArgumentError: As for `check_torch`.
    """
    return foreign_suite("torch", table, **options)
