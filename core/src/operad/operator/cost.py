"""Cost of an operation: an estimate of its time from what it computes.

Loops over elements and products of matrices run at rates that differ by a factor of thirty, so an operator
counts them apart, and one estimate in microseconds is made of both. Who asks: what runs in the calling
thread, which nodes are worth a partition of their own, and whether a product is worth several threads.

The rates are those of one core of a common machine (measured on an x86-64 server core with AVX-512, one
thread, float32: products of 64 to 512 rows 60 to 85 GFLOP/s, NumPy's ufuncs on arrays in cache 0.1 to 0.5 ns
per element, on arrays in memory 0.4 ns per operand).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, final

_LOOP_US: Final = 5e-4
_FLOP_US: Final = 1.6e-5


@final
class Cost(NamedTuple):
    """How much one call computes.

    Attributes:
        loops: Operations of loops over elements: an addition, a comparison, a copy of one number.
        flops: Multiplications and additions of products of matrices, which BLAS computes.
    """

    loops: float = 0.0
    flops: float = 0.0

    def __mul__(self, factor: float) -> Cost:  # type: ignore[override]  # no tuple is repeated here
        return Cost(self.loops * factor, self.flops * factor)

    def plus(self, other: Cost) -> Cost:
        """Of both together."""
        return Cost(*(mine + its for mine, its in zip(self, other, strict=True)))

    @property
    def us(self) -> float:
        """Estimated microseconds on one thread."""
        return _LOOP_US * self.loops + _FLOP_US * self.flops

    @property
    def operations(self) -> float:
        """All operations, of whatever kind."""
        return self.loops + self.flops


def as_cost(found: float | Cost) -> Cost:
    """What `OperatorProperty.cost` gave; a number counts loops."""
    return found if isinstance(found, Cost) else Cost(loops=found)


def gradient_cost(forward: Cost, factors: Sequence[str], wanted: Sequence[str]) -> Cost:
    """What gradients are taken to compute where nothing says it: two loops of the forward pass.

    Args:
        forward: What the forward pass computes.
        factors: The arguments whose product it is; each gradient is such a product once more. Empty: not
            said, two products are assumed.
        wanted: The arguments whose gradients are computed.
    """
    products = sum([factors.count(name) for name in wanted]) if factors else 2
    return forward._replace(loops=2 * forward.loops, flops=products * forward.flops)
