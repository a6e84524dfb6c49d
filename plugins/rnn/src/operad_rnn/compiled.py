"""All steps of a small cell in one loop, compiled by numba on first use; imported only where that is there.

With a handful of rows and units a step is a dozen calls of NumPy and hardly any work. Here it is a product of
the hidden state that is summed up row by row, and one pass over the units. Arrays are as in `cell.py`, where
the formulas of the gradients stand too. Where a step comes first, the state before it is `hidden` or `state`.
"""

from __future__ import annotations

from functools import partial
from math import exp, tanh
from typing import Final

import numpy as np

from operad_sdk import Array, loop

_sums = partial(loop, may_reorder=True)
_NEARLY_LINEAR: Final = 1e-4
"""Below it `tanh(x)` is `x` to single precision."""


@loop
def _tanh(x: float, is_single: bool) -> float:
    """`tanh`; where a result of single precision is wanted, by one exponential in double, twice as fast."""
    if not is_single:
        return tanh(x)
    wide = np.float64(x)
    return wide if abs(wide) < _NEARLY_LINEAR else 1.0 - 2.0 / (exp(2.0 * wide) + 1.0)


@loop
def _places(number: int, steps: int, is_reverse: bool) -> tuple[int, int]:
    """Places of step `number` and of the one before it."""
    return (steps - 1 - number, steps - number) if is_reverse else (number, number - 1)


@_sums
def _add_product(row: Array, matrix: Array, out: Array) -> None:
    """`out += row @ matrix`, four rows of the matrix at a time."""
    whole = len(row) - len(row) % 4
    for k in range(0, whole, 4):
        a, b, c, d = row[k], row[k + 1], row[k + 2], row[k + 3]
        for j in range(len(out)):
            out[j] += a * matrix[k, j] + b * matrix[k + 1, j] + c * matrix[k + 2, j] + d * matrix[k + 3, j]
    for k in range(whole, len(row)):
        for j in range(len(out)):
            out[j] += row[k] * matrix[k, j]


@_sums
def _add_recurrent(
    hidden: Array, out: Array, weight: Array, n: int, number: int, last: int, row: Array
) -> None:
    """Add the product of the hidden state before step `number`, of row `n`."""
    if number == 0:
        _add_product(hidden[n], weight, row)
    else:
        _add_product(out[last, n], weight, row)


@_sums
def lstm_steps(
    gates: Array,
    inner: Array,
    out: Array,
    weight: Array,
    bias: Array,
    hidden: Array,
    state: Array,
    is_reverse: bool,
) -> None:
    """Forward: `gates` hold the products of the inputs; `weight` is (units, 4 units), transposed."""
    steps, batch, units = inner.shape
    is_single = inner.itemsize == 4
    one = gates.dtype.type(1)
    for number in range(steps):
        t, last = _places(number, steps, is_reverse)
        for n in range(batch):
            row = gates[t, n]
            row += bias
            _add_recurrent(hidden, out, weight, n, number, last, row)
            for j in range(units):
                i = one / (one + exp(-row[j]))
                f = one / (one + exp(-row[units + j]))
                g = _tanh(row[2 * units + j], is_single)
                o = one / (one + exp(-row[3 * units + j]))
                row[j], row[units + j], row[2 * units + j], row[3 * units + j] = i, f, g, o
                before = state[n, j] if number == 0 else inner[last, n, j]
                new = f * before + i * g
                inner[t, n, j] = new
                out[t, n, j] = o * _tanh(new, is_single)


@_sums
def lstm_steps_back(
    gates: Array,
    inner: Array,
    out_grad: Array,
    sums: Array,
    weight: Array,
    state: Array,
    hidden_grad: Array,
    state_grad: Array,
    is_reverse: bool,
) -> None:
    """Backward: fills `sums`, and makes the gradients of the first states of those of the last."""
    steps, batch, units = inner.shape
    is_single = inner.itemsize == 4
    one = gates.dtype.type(1)
    for number in range(steps - 1, -1, -1):
        t, last = _places(number, steps, is_reverse)
        for n in range(batch):
            row, grads = gates[t, n], sums[t, n]
            for j in range(units):
                i, f, g, o = row[j], row[units + j], row[2 * units + j], row[3 * units + j]
                grad = hidden_grad[n, j] + out_grad[t, n, j]
                new = _tanh(inner[t, n, j], is_single)
                before = state[n, j] if number == 0 else inner[last, n, j]
                inner_grad = state_grad[n, j] + grad * o * (one - new * new)
                grads[j] = inner_grad * g * i * (one - i)
                grads[units + j] = inner_grad * before * f * (one - f)
                grads[2 * units + j] = inner_grad * i * (one - g * g)
                grads[3 * units + j] = grad * new * o * (one - o)
                state_grad[n, j] = inner_grad * f
            hidden_grad[n] = 0
            _add_product(grads, weight, hidden_grad[n])


@_sums
def gru_steps(
    gates: Array,
    inner: Array,
    out: Array,
    weight: Array,
    i2h_bias: Array,
    h2h_bias: Array,
    hidden: Array,
    is_reverse: bool,
) -> None:
    """Forward: as `lstm_steps`; `weight` is (units, 3 units)."""
    steps, batch, units = inner.shape
    is_single = inner.itemsize == 4
    one = gates.dtype.type(1)
    product = h2h_bias.copy()
    for number in range(steps):
        t, last = _places(number, steps, is_reverse)
        for n in range(batch):
            row = gates[t, n]
            row += i2h_bias
            product[:] = h2h_bias
            _add_recurrent(hidden, out, weight, n, number, last, product)
            for j in range(units):
                before = hidden[n, j] if number == 0 else out[last, n, j]
                reset = one / (one + exp(-row[j] - product[j]))
                update = one / (one + exp(-row[units + j] - product[units + j]))
                inner[t, n, j] = product[2 * units + j]
                candidate = _tanh(row[2 * units + j] + reset * product[2 * units + j], is_single)
                row[j], row[units + j], row[2 * units + j] = reset, update, candidate
                out[t, n, j] = candidate + (before - candidate) * update


@_sums
def gru_steps_back(
    gates: Array,
    inner: Array,
    out: Array,
    out_grad: Array,
    sums: Array,
    candidates: Array,
    weight: Array,
    hidden: Array,
    hidden_grad: Array,
    is_reverse: bool,
) -> None:
    """Backward: as `lstm_steps_back`; `candidates` are filled with the gradients before the reset gate."""
    steps, batch, units = inner.shape
    one = gates.dtype.type(1)
    for number in range(steps - 1, -1, -1):
        t, last = _places(number, steps, is_reverse)
        for n in range(batch):
            row, grads = gates[t, n], sums[t, n]
            for j in range(units):
                reset, update, candidate = row[j], row[units + j], row[2 * units + j]
                before = hidden[n, j] if number == 0 else out[last, n, j]
                grad = hidden_grad[n, j] + out_grad[t, n, j]
                inside = grad * (one - update) * (one - candidate * candidate)
                candidates[t, n, j] = inside
                grads[j] = inside * inner[t, n, j] * reset * (one - reset)
                grads[units + j] = grad * (before - candidate) * update * (one - update)
                grads[2 * units + j] = inside * reset
                hidden_grad[n, j] = grad * update
            _add_product(grads, weight, hidden_grad[n])


@_sums
def plain_steps(
    out: Array, weight: Array, bias: Array, hidden: Array, is_tanh: bool, is_reverse: bool
) -> None:
    """Forward: `out` holds the products of the inputs; `weight` is (units, units)."""
    steps, batch, units = out.shape
    is_single = out.itemsize == 4
    zero = out.dtype.type(0)
    for number in range(steps):
        t, last = _places(number, steps, is_reverse)
        for n in range(batch):
            row = out[t, n]
            row += bias
            _add_recurrent(hidden, out, weight, n, number, last, row)
            for j in range(units):
                if is_tanh:
                    row[j] = _tanh(row[j], is_single)
                elif row[j] < zero:
                    row[j] = zero


@_sums
def plain_steps_back(
    out: Array,
    out_grad: Array,
    sums: Array,
    weight: Array,
    hidden_grad: Array,
    is_tanh: bool,
    is_reverse: bool,
) -> None:
    """Backward: as `lstm_steps_back`."""
    steps, batch, units = out.shape
    one, zero = out.dtype.type(1), out.dtype.type(0)
    for number in range(steps - 1, -1, -1):
        t, _ = _places(number, steps, is_reverse)
        for n in range(batch):
            grads = sums[t, n]
            for j in range(units):
                new = out[t, n, j]
                grad = hidden_grad[n, j] + out_grad[t, n, j]
                if is_tanh:
                    grads[j] = grad * (one - new * new)
                else:
                    grads[j] = grad if new > zero else grad * zero
            hidden_grad[n] = 0
            _add_product(grads, weight, hidden_grad[n])
