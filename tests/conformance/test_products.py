"""Operators that say `multiplies`: their cost counts multiplications and additions, also in gradients.

Of arrays of ones every multiplication adds one to an output. So twice the sum of the outputs is the cost,
and twice the sum of a gradient, for heads of ones, is what that gradient costs.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import operad as od
from operad import registry
from operad.operator import as_cost

CASES: dict[str, list[tuple[list[tuple[int, ...]], dict[str, Any]]]] = {
    "FullyConnected": [
        ([(3, 4), (5, 4)], {"num_hidden": 5, "no_bias": True}),
        ([(2, 3, 4), (5, 12)], {"num_hidden": 5, "no_bias": True}),
        ([(2, 3, 4), (5, 4)], {"num_hidden": 5, "no_bias": True, "flatten": False}),
    ],
    "dot": [
        ([(3, 4), (4, 5)], {}),
        ([(4, 3), (5, 4)], {"transpose_a": True, "transpose_b": True}),
        ([(6,), (6,)], {}),
        ([(2, 3, 4), (4, 5)], {}),
    ],
    "batch_dot": [
        ([(2, 3, 4), (2, 4, 5)], {}),
        ([(2, 4, 3), (2, 5, 4)], {"transpose_a": True, "transpose_b": True}),
    ],
    "Convolution": [
        ([(2, 3, 7, 8), (5, 3, 2, 3)], {"kernel": (2, 3), "num_filter": 5, "no_bias": True}),
        ([(2, 4, 9), (6, 2, 3)],
         {"kernel": (3,), "stride": (2,), "num_group": 2, "num_filter": 6, "no_bias": True}),
    ],
    "Convolution_v1": [([(2, 3, 7, 8), (5, 3, 2, 3)], {"kernel": (2, 3), "num_filter": 5, "no_bias": True})],
    "Deconvolution": [
        ([(2, 3, 4, 5), (3, 5, 2, 3)], {"kernel": (2, 3), "num_filter": 5, "no_bias": True}),
        ([(2, 4, 5), (4, 3, 3)],
         {"kernel": (3,), "stride": (2,), "num_group": 2, "num_filter": 6, "no_bias": True}),
    ],
    "_contrib_interleaved_matmul_selfatt_qk": [([(5, 2, 9)], {"heads": 3})],
    "_contrib_interleaved_matmul_selfatt_valatt": [([(5, 2, 12), (4, 5, 5)], {"heads": 2})],
    "_contrib_interleaved_matmul_encdec_qk": [([(5, 2, 3), (4, 2, 6)], {"heads": 3})],
    "_contrib_interleaved_matmul_encdec_valatt": [([(4, 2, 8), (4, 5, 4)], {"heads": 2})],
}  # fmt: skip


def declared() -> set[str]:
    """Main names of all installed operators that say it."""
    found = [registry.get(name) for name in registry.list_operators(aliases=False)]
    return {op.name for op in found if op.multiplies}


def test_every_operator_that_says_it_is_tried() -> None:
    assert declared() == set(CASES)


@pytest.mark.parametrize(
    ("name", "shapes", "params"),
    [(name, shapes, params) for name, cases in CASES.items() for shapes, params in cases],
)
def test_the_cost_is_the_number_of_multiplications_and_additions(
    name: str, shapes: list[tuple[int, ...]], params: dict[str, Any]
) -> None:
    prop = registry.get(name)(**params)
    arrays = [od.nd.ones(shape) for shape in shapes]
    for array in arrays:
        array.attach_grad()
    with od.autograd.record():
        out = getattr(od.nd, name)(*arrays, **params)
    out.backward()
    cost = as_cost(prop.cost(shapes, [out.shape])).product_flops
    assert 2 * float(out.sum().asscalar()) == cost
    factors = Counter(prop.multiplies)
    for argument, array in zip(prop.list_arguments(), arrays, strict=True):
        assert 2 * float(array.grad.sum().asscalar()) == factors[argument] * cost
