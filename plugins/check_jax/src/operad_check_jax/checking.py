"""Checking functions of JAX from Python and from pytest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from operad_check import OperatorReport, check_foreign, foreign_suite


def check_jax(function: str | Callable[..., Any], line: str, **options: Any) -> OperatorReport:
    """Check a function of JAX.

    Args:
        function: The function, a text that names it, `"jax.nn:softplus"`, or an expression of
            the line's arguments, `"jnp.median(x, -1)"`.
        line: The shapes of its arguments and results, `"x:(N, D) -> y:(N)"`.
        options: As for `operad_check.check_foreign`.

    Raises:
        ArgumentError: There is no such function, or JAX is not installed.
        SpecError: The line cannot be read.
    """
    return check_foreign("jax", function, line, **options)


def jax_suite(table: Mapping[str, Any], **options: Any) -> Callable[..., None]:
    """A test function for pytest with one case for each function of a table and each check.

    Args:
        table: By name a function and its line, and possibly a contract, as for `check_jax`.
        options: As for `operad_check.foreign_suite`.

    Raises:
        ArgumentError: As for `check_jax`.
    """
    return foreign_suite("jax", table, **options)
