"""Cost of an operation: an estimate of its time from what it computes.

Loops over elements, products of matrices and bytes that are moved have rates that differ by a factor of
thirty, so an operator counts them apart, and one estimate in microseconds is made of all. Who asks: what runs
in the calling thread, which nodes are worth a partition of their own, which of two kernels is taken, and
whether a product is worth several threads. The rates stand in `op/rates.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple, final

from operad.config import settings
from operad.dtypes import DType
from operad.op.rates import Correction, rates
from operad.op.shapes import Shape

if TYPE_CHECKING:
    from operad.op.property import OperatorProperty

BLAS_FLOPS: Final = 1 << 14
"""Below this a BLAS product uses one thread anyhow: OpenBLAS divides inner products from 10,000 on."""
MULTIPLIED_SIZE: Final = 9216
"""Elements of all arrays of the smallest product that OpenBLAS divides, of a matrix and a vector."""
_FEW_FLOPS: Final = 1 << 18
"""Operations of products below which these are not looked at beside loops."""
PARALLEL_US: Final = 250.0
"""Estimate without products below which one thread is worth it: a part that is handed over costs 30."""
POOLED_US: Final = 80.0
"""Work from which it is divided by kernels whose threads are woken in machine code, in 20."""
_SHARED: Final = 4
"""Factor by which the calling thread may take longer over what all threads share, as any thread would."""
_SINGLE_BYTES: Final = 4
"""Costs are declared for elements of single precision."""


@final
class Cost(NamedTuple):
    """Amount that one call computes.

    Attributes:
        loops: Operations of loops over elements, such as a step of a compiled loop.
        flops: Multiplications and additions of products of matrices, which BLAS computes.
        size_bytes: Bytes that are read and written, where they are not counted with the loops.
        beside_us: Microseconds that none of these explains, such as those of calls in Python.
        single_flops: As `flops`, of products each of which one thread computes, whatever BLAS may do: those
            that the operator itself divides among threads of the pool, and small ones (`product_cost`).
        pooled_us: How much of all this the operator divides so, in microseconds, where it is no product.
    """

    loops: float = 0.0
    flops: float = 0.0
    size_bytes: float = 0.0
    beside_us: float = 0.0
    single_flops: float = 0.0
    pooled_us: float = 0.0

    @property
    def product_flops(self) -> float:
        """Multiplications and additions of all products."""
        return self.flops + self.single_flops

    def __mul__(self, factor: float) -> Cost:  # type: ignore[override]  # no tuple is repeated here
        return Cost(*(part * factor for part in self))

    def plus(self, other: Cost) -> Cost:
        """Of both together."""
        return Cost(*(mine + its for mine, its in zip(self, other, strict=True)))

    @property
    def us(self) -> float:
        """Estimated microseconds on one thread."""
        return self.work_us + self.beside_us

    @property
    def is_light(self) -> bool:
        """Return whether the calling thread may run it: it takes little, or all threads share most of it."""
        limit, undivided_us = settings().inline_us, self.us - self.pooled_us
        wall_us = undivided_us + self.pooled_us / settings().num_threads
        return undivided_us <= limit and wall_us <= _SHARED * limit

    @property
    def is_parallel(self) -> bool:
        """Return whether one call is worth several threads.

        What has no products, or divides them itself, is worth it as soon as it takes as long as a few
        hand-overs; others from the setting `parallel_flops`, since BLAS computes each with one thread.
        """
        if self.flops >= settings().parallel_flops or self.pooled_us >= POOLED_US:
            return True
        return self.flops < _FEW_FLOPS and self.us >= PARALLEL_US

    @property
    def has_product(self) -> bool:
        """Return whether a product is so large that BLAS may use threads, if it is not told otherwise."""
        return self.flops >= BLAS_FLOPS

    @property
    def work_us(self) -> float:
        """Shares of loops, products and moved bytes in it."""
        found = rates()
        products = found.flop_us * self.product_flops
        return found.loop_us * self.loops + products + found.moving_us(self.size_bytes)

    @property
    def operations(self) -> float:
        """All operations, of whatever kind."""
        return self.loops + self.product_flops

    def corrected(self, by: Correction | None) -> Cost:
        """The same as measurements have it."""
        if by is None:
            return self
        return self._replace(beside_us=by.base_us + (by.factor - 1) * self.work_us)


def as_cost(found: float | Cost) -> Cost:
    """Result of `OperatorProperty.cost`; a number counts loops."""
    return found if isinstance(found, Cost) else Cost(loops=found)


def product_cost(flops: float, *shapes: Shape) -> Cost:
    """Cost of products of whole arrays of these shapes, into such an array.

    Where all of them together have fewer elements than the smallest matrix that OpenBLAS divides, it divides
    none of their products: of m, k and n, m * k + k * n + m * n < 9216 keeps m * k * n below 170,254, and it
    divides products of matrices from 262,144 on, and inner products from 10,000. That does not hold of arrays
    that an operator makes inside, such as the columns of a convolution.
    """
    if sum(map(prod, shapes)) < MULTIPLIED_SIZE:
        return Cost(single_flops=flops)
    return Cost(flops=flops)


def own_cost(
    prop: OperatorProperty, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape], in_types: Sequence[DType]
) -> Cost:
    """Cost that an operator states of its forward pass; wide elements take more, as they have more bytes."""
    found = as_cost(prop.cost(in_shapes, out_shapes))
    widest = max([dtype.itemsize for dtype in in_types if dtype.kind == "f"], default=_SINGLE_BYTES)
    if widest <= _SINGLE_BYTES:  # half precision is computed in single
        return found
    wide = found * (widest / _SINGLE_BYTES)
    # Of products, the number stays what it is, and what they take more is distinguished.
    more_us = rates().flop_us * (wide.product_flops - found.product_flops)
    return wide._replace(
        flops=found.flops, single_flops=found.single_flops, beside_us=wide.beside_us + more_us
    )


def moved_bytes(shapes: Sequence[Shape]) -> float:
    """Bytes of arrays of these shapes, in single precision."""
    return float(_SINGLE_BYTES * sum(map(prod, shapes)))


def gradient_cost(forward: Cost, factors: Sequence[str], wanted: Sequence[str]) -> Cost:
    """Cost of gradients where nothing states it: two loops of the forward pass.

    Args:
        forward: What the forward pass computes.
        factors: The arguments whose product it is; each gradient is such a product once more. Empty: not
            said, two products are assumed.
        wanted: The arguments whose gradients are computed.
    """
    products = sum([factors.count(name) for name in wanted]) if factors else 2
    return (forward * 2)._replace(
        flops=products * forward.flops, single_flops=products * forward.single_flops
    )
