"""Kernels of `BatchNorm`'s forms, in both modes, beside its functions in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.operator import BackwardArrays, ForwardArrays, KernelCall, OpContext, OpReq, choose
from operad_normalization.batch_norm import BatchNorm
from operad_normalization.batch_statistics import is_affine
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()

PARAMS: list[dict[str, Any]] = [
    {"fix_gamma": fix_gamma, "use_global_stats": is_global, "axis": axis}
    for fix_gamma in (True, False)
    for is_global in (True, False)
    for axis in (1, -1)
]


class Step:
    """A training or a prediction step with random numbers.

    Attributes:
        arrays: Data, gamma, beta, head gradient and moving statistics, in double precision.
    """

    def __init__(self, seed: int, params: dict[str, Any]) -> None:
        rng = np.random.default_rng(seed)
        shape = [tuple(rng.integers(1, 40, 2)), (*rng.integers(1, 7, 2), *rng.integers(1, 30, 2))][seed % 2]
        self.prop = BatchNorm(eps=1e-3, **params)
        self.shape = tuple(map(int, shape))
        self.length = self.shape[self.prop.axis]
        self.is_train = bool(rng.integers(2))
        data = rng.choice([0, 100]) + rng.standard_normal(self.shape)
        vectors = [rng.uniform(0.5, 2, self.length) for _ in range(4)]
        head = rng.standard_normal(self.shape)
        self.arrays = [data, *vectors[:2], head, *vectors[2:]]

    def results(self, dtype: str, has_kernels: bool, in_place: bool = False) -> list[Any]:
        """Outputs, states and gradients by the kernels of forms, or by the functions."""
        data, gamma, beta, head, *states = (array.astype(np.float32).astype(dtype) for array in self.arrays)
        types = [np.dtype(dtype)] * 3
        call = KernelCall(self.prop, od.cpu(), [self.shape, (self.length,), (self.length,)], types)
        kernels = self.prop.derived_kernels() if has_kernels else BatchNorm.kernels[:1]
        context = OpContext(od.cpu(), self.is_train)
        kept = [np.empty(shape, dtype) for shape in (self.shape, self.length, self.length)]
        grads = [head if in_place else np.empty_like(head), np.zeros(self.length), np.zeros(self.length)]
        grads[1:] = [grad.astype(dtype) for grad in grads[1:]]
        for kernel in kernels:
            parts = kernel.parts(self.prop) if kernel.parts else ["forward", *GRADIENTS]
            made = kernel.factory(self.prop, call.ctx, call.in_shapes, call.in_types)
            if "forward" in parts:
                made.forward(context, ForwardArrays([data, gamma, beta], [OpReq.WRITE] * 3, kept, states))
            requests = [OpReq.WRITE if part in parts else OpReq.NULL for part in GRADIENTS]
            if in_place and requests[0] is OpReq.WRITE:
                requests[0] = OpReq.INPLACE
            if OpReq.WRITE in requests or OpReq.INPLACE in requests:
                made.backward(
                    context,
                    BackwardArrays([head, None, None], [data, gamma, beta], kept, requests, grads, states),
                )
        return [*kept, *states, *grads]


GRADIENTS = ["data_grad", "gamma_grad", "beta_grad"]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("params", PARAMS, ids=str)
@pytest.mark.parametrize("in_place", [False, True])
def test_kernels_compute_in_both_modes_what_the_functions_compute(
    seed: int, params: dict[str, Any], in_place: bool
) -> None:
    step = Step(seed, params)
    in_place &= not is_affine(step.prop)  # of which another function reads the head gradient later
    pairs = zip(step.results("float32", True, in_place), step.results("float64", False), strict=True)
    for number, (found, expected) in enumerate(pairs):
        scale = max(1, np.abs(expected).max())
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5 * scale, err_msg=str(number))


def test_calls_of_256_elements_are_computed_by_kernels() -> None:
    call = KernelCall(BatchNorm(), od.cpu(), [(64, 10), (10,), (10,)], [np.dtype(np.float32)] * 3)
    assert {kernel.name for kernel in choose(call).kernels.values()} == {
        "BatchNorm.vector_forward", "BatchNorm.vector_gradients_without_gamma",
    }  # fmt: skip
