"""Functions of other libraries as pytest tests, from a table of them.

from operad_check import foreign_suite

TABLE = {"median": ("torch.median(x, -1).values", "x:(N, D) -> y:(N)")}
test_functions = foreign_suite("torch", TABLE)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from operad_check.foreign.backend import Backend
from operad_check.foreign.checking import checks_of
from operad_check.foreign.found import backend_named
from operad_check.foreign.function import ForeignFunction, function_of
from operad_check.foreign.subject import subject_of_function
from operad_check.plan.profile import Profile
from operad_check.running.suite import contract_suite


def foreign_suite(
    library: str | Backend, table: Mapping[str, Any], *, profile: str | Profile | None = None
) -> Callable[..., None]:
    """A test function for pytest with one case for each function of a table and each check.

    Args:
        library: As for `check_foreign`.
        table: By name a function and its line, and possibly a contract:
            `{"median": ("torch.median(x, -1).values", "x:(N, D) -> y:(N)")}`.
        profile: As for `check_operator`.

    Raises:
        ArgumentError: As for `check_foreign`.
    """
    backend = backend_named(library) if isinstance(library, str) else library
    functions = [_row(backend, name, *row) for name, row in table.items()]
    return contract_suite(
        [subject_of_function(each) for each in functions], checks=checks_of(backend), profile=profile
    )


def _row(backend: Backend, name: str, function: Any, line: str, contract: Any = None) -> ForeignFunction:
    described = {} if contract is None else {"contract": contract}
    return function_of(backend, function, line, name=name, **described)
