"""`einsum`: products of several arrays, summed over the letters that the result lacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from operad_matrix.contraction import Contraction
from operad_matrix.tensor_products import Product
from operad_sdk import Array, Contract, Shape, ShapeError, operator, param


@lru_cache(maxsize=1024)
def _parsed(subscripts: str, shapes: tuple[Shape, ...]) -> Contraction:
    from opt_einsum.parser import parse_einsum_input  # noqa: PLC0415 - the import takes 60 ms

    try:
        terms, result, _ = parse_einsum_input([subscripts, *shapes], shapes=True)
    except (ValueError, TypeError) as error:
        raise ShapeError(
            f"subscripts {subscripts!r} do not fit arrays of shapes {', '.join(map(str, shapes))}: {error}"
        ) from error
    made = Contraction(tuple(terms.split(",")), result)
    for number, (term, shape) in enumerate(zip(made.terms, shapes, strict=False)):
        if len(term) != len(shape):
            raise ShapeError(
                f"subscripts {subscripts!r} name {len(term)} axes of data{number}, which has shape {shape}"
            )
    if len(made.terms) != len(shapes) or len({*result}) < len(result) or not {*result} <= {*terms}:
        raise ShapeError(
            f"subscripts are {subscripts!r}, expected a term for each of {len(shapes)} arrays, and behind -> "
            "letters of these, each once"
        )
    return made


@operator("einsum")
class einsum(Product):
    """Products of arrays, summed over the letters that the result lacks, as `numpy.einsum`.

    The arrays are multiplied two at a time, as matrices, along a path that `opt_einsum` finds. The
    gradient of each is such a sum of that of the output and the others.

    Shapes:
        data0, ...: As many axes as the term has letters; `...` stands for any, which broadcast.
        output: The letters behind `->`; (1,) where there are none.

    Example:
        >>> import operad as od
        >>> a, b = od.nd.array([[1, 2], [3, 4]]), od.nd.array([1, 10])
        >>> od.nd.einsum(a, b, subscripts="ij,j->i").asnumpy()
        array([21., 43.], dtype=float32)

    Source: NumpyEinsumParam, src/operator/numpy/np_einsum_op-inl.h.
    """

    num_args = param(int, ge=1, doc="Number of arrays; filled in by calls.")
    subscripts = param(
        str, "", doc="Letters of each array's axes, with commas between, `->` and the result's."
    )
    optimize = param(int, 0, ignored="A path of pairs is always found.")
    key_var_num_args = "num_args"
    spec = "data[num_args]:(*S[i]) -> output:(*product(S))"
    contract = Contract(
        param_sets=[
            {"num_args": 2, "subscripts": "ij,jk->ik"},
            {"num_args": 2, "subscripts": "...i,i"},
            {"num_args": 1, "subscripts": "iij->ji"},
            {"num_args": 3, "subscripts": "bi,bij,jk->bk"},
            {"num_args": 2, "subscripts": "ii,jk->k"},
        ],
        params={"num_args": [2], "subscripts": ["ab,ab->a", "ab,cb->ca"], "optimize": [0]},
        narrowed={
            "subscripts": "each names a number of axes for each array",
            "num_args": "as subscripts say",
        },
        reference=lambda *data, subscripts: np.atleast_1d(np.einsum(subscripts, *data)),
    )

    @property
    def functions(self) -> Mapping[str, Callable[..., Shape]]:  # type: ignore[override]
        """The shape of the result."""
        return {"product": lambda shapes: self.shaped(*shapes) or (1,)}

    def contraction(self, *shapes: Shape) -> Contraction:
        """Terms of the subscripts."""
        return _parsed(self.subscripts, shapes)

    def forward(self, data: Any, output: Array) -> None:
        """Along the path."""
        self.computed(data, output)

    def backward(self, output_grad: Array, data: Any, wanted: frozenset[str]) -> list[Array | None]:
        """A contraction for each array that is asked for."""
        return [
            self.slope(output_grad, data, number) if f"data{number}_grad" in wanted else None
            for number in range(len(data))
        ]
