"""Operators that a program registers, beside the built-in one: a recorded call and its gradient."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

import operad as od
from tests.benchmarks.case import Case

_SHAPES: Final = ((4, 4), (64, 64), (256, 256), (512, 512))


class _Tanh(od.operator.CustomOp):  # type: ignore[name-defined, misc]  # a face of operad-custom
    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        self.assign(out_data[0], req[0], od.nd.tanh(in_data[0]))

    def backward(self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any) -> None:
        output = out_data[0]
        self.assign(in_grad[0], req[0], out_grad[0] * (1 - output * output))


class _TanhProp(od.operator.CustomOpProp):  # type: ignore[name-defined, misc]  # likewise
    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> _Tanh:
        return _Tanh()


def cases() -> list[Case]:
    """In microseconds a round trip; the peer is `nd.tanh`."""
    od.operator.register("benchmark_tanh")(_TanhProp)
    custom = partial(od.nd.Custom, op_type="benchmark_tanh")
    return [
        Case(
            f"CustomOp, forward and backward, {rows}x{columns}",
            _round_trip(custom, (rows, columns)),
            peer=_round_trip(od.nd.tanh, (rows, columns)),
            peer_name="nd.tanh",
        )
        for rows, columns in _SHAPES
    ]


def _round_trip(function: Callable[[Any], Any], shape: tuple[int, int]) -> Callable[[], None]:
    data = od.nd.array(np.random.default_rng(0).standard_normal(shape))
    data.attach_grad()

    def run() -> None:
        with od.autograd.record():
            output = function(data)
        output.backward()
        data.grad.wait_to_read()

    return run
