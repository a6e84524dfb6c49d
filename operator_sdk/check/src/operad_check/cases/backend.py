"""The source of Hypothesis's choices: one seed, and nothing else.

Hypothesis' own source of choices mixes in constants that it finds in the modules that happen to be
loaded, so that a run of one operator and a run of all would not show it the same cases. It also
spends most of its time on variations of cases that the operator refuses. A failure is still
shrunk by Hypothesis itself, from the choices that led to it.

Hypothesis calls this interface of its own internal. A release that moves it away leaves the checks with
Hypothesis' source, which is given the same seed.
"""

from __future__ import annotations

from random import Random
from typing import Any, ClassVar, Final

try:
    from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, PrimitiveProvider
except ImportError:
    AVAILABLE_PROVIDERS, PrimitiveProvider = {}, object  # type: ignore[misc, assignment]

NAME: Final = "operad" if AVAILABLE_PROVIDERS else "hypothesis"
"""The value of `settings(backend=...)`."""

_UNBOUNDED: Final = 2**16
_INTEGERS_ONLY: Final = "cases are made of integers and booleans; values come from a lattice"


class SeededProvider(PrimitiveProvider):
    """Uniform choices; the strategies of this package draw integers and booleans only.

    Attributes:
        seed: Of the next search.
    """

    lifetime = "test_function"
    seed: ClassVar[int] = 0

    def __init__(self, conjecturedata: Any, /) -> None:
        super().__init__(conjecturedata)
        self._random = Random(self.seed)

    def draw_boolean(self, p: float = 0.5) -> bool:
        """True with probability `p`."""
        return self._random.random() < p

    def draw_integer(
        self,
        min_value: int | None = None,
        max_value: int | None = None,
        *,
        weights: dict[int, float] | None = None,
        shrink_towards: int = 0,
    ) -> int:
        """An integer within the bounds, which are included."""
        low = -_UNBOUNDED if min_value is None else min_value
        high = low + 2 * _UNBOUNDED if max_value is None else max_value
        return self._random.randint(min(low, high), high)

    def draw_float(self, **constraints: Any) -> float:
        """Not drawn: values come from a lattice."""
        raise NotImplementedError(_INTEGERS_ONLY)  # by design: no strategy of the checks asks for one

    def draw_string(self, *args: Any, **constraints: Any) -> str:
        """Not drawn."""
        raise NotImplementedError(_INTEGERS_ONLY)  # by design: no strategy of the checks asks for one

    def draw_bytes(self, *args: Any, **constraints: Any) -> bytes:
        """Not drawn."""
        raise NotImplementedError(_INTEGERS_ONLY)  # by design: no strategy of the checks asks for one


AVAILABLE_PROVIDERS[NAME] = f"{__name__}.{SeededProvider.__qualname__}"
