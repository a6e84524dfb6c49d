"""Checking a function of another library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from operad_check.foreign.backend import Backend
from operad_check.foreign.found import backend_named
from operad_check.foreign.function import function_of
from operad_check.foreign.line import described as described_by_line
from operad_check.foreign.numpy_backend import NumpyBackend
from operad_check.plan.profile import Profile
from operad_check.register import Check, find_check
from operad_check.reporting.outcome import OperatorReport
from operad_check.running.runner import Progress, check_operator

TRANSFERRED: Final = (
    "F201", "F202", "F207", "F209", "F210", "F211", "F212", "F213", "F219", "F221",
    "B301", "B302", "B303", "B306", "B309", "B310", "B311", "B312", "B313",
    "D601", "D602", "D603", "D604", "M409", "M411", "R501", "R502",
)  # fmt: skip
"""Checks that say something of any function; the others are about engines, requests and memory plans."""


def checks_of(backend: Backend) -> list[Check]:
    """The checks of functions of a library: those of operators that mean something there, and its own."""
    own = [find_check(id) for id in TRANSFERRED if id not in backend.skips]
    return [*own, *backend.checks]


def check_foreign(
    library: str | Backend,
    function: str | Callable[..., Any],
    line: str,
    *,
    checks: Sequence[str] | None = None,
    profile: str | Profile | None = None,
    progress: Progress | None = None,
    **described: Any,
) -> OperatorReport:
    """Check a function of a library.

    Args:
        library: Name under which a package provides it, such as `"torch"`.
        function: The function, a text that names it (`"torch.nn.functional:normalize"`), or an expression of
            the line's arguments (`"torch.median(x, -1).values"`).
        line: Its shape line, `"x:(N, D) -> y:(N)"`.
        checks: Ids to run; None: all.
        profile: As for `check_operator`, as is `progress`.
        described: `contract`, `name`, `keywords` of a call, and arguments `without_gradient`.

    Raises:
        ArgumentError: There is no such library or function, or no result fits the line.
        SpecError: The line cannot be read.

    Example:
        >>> import numpy as np
        >>> from operad_check import check_foreign
        >>> check_foreign("numpy", np.linalg.norm, "x:(D) -> y:()", checks=["F201", "F211"]).red_ids
        []
    """
    backend = backend_named(library) if isinstance(library, str) else library
    made = function_of(backend, function, line, **described)
    found = [each for each in checks_of(backend) if checks is None or each.id in checks]
    return check_operator(described_by_line(made), checks=found, profile=profile, progress=progress)


def check_numpy(
    function: str | Callable[..., Any], line: str, gradient: Callable[..., Any] | None = None, **options: Any
) -> OperatorReport:
    """Check a function of NumPy arrays and the gradient that was written for it.

    Args:
        function: As for `check_foreign`, as are `line` and `options`.
        gradient: Takes the gradients of the outputs and then the arguments, and returns one gradient for each
            argument (None: zero); left out: none is checked.

    Example:
        >>> import numpy as np
        >>> from operad_check import check_numpy
        >>> check_numpy(np.square, "x:(...) -> y:(...)", lambda g, x: 3 * g * x, checks=["B301"]).red_ids
        ['B301']
    """
    if gradient is None and not isinstance(function, str):
        gradient = getattr(function, "gradient", None)
    return check_foreign(NumpyBackend(gradient), function, line, **options)
