"""Random programs of NumPy: what is traced of one computes what it does, or there is a reason."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from operad_sdk.differentiate import FORM, Node, Traced, form_of

UNARY = (
    np.negative, np.absolute, np.square, np.sqrt, np.exp, np.log, np.tanh, np.sign, np.floor, np.rint,
    np.reciprocal, np.isnan, np.isfinite, np.signbit, np.logical_not, np.invert, np.expm1, np.cbrt,
)  # fmt: skip
BINARY = (
    np.add, np.subtract, np.multiply, np.divide, np.power, np.float_power, np.maximum, np.minimum, np.fmax,
    np.fmin, np.remainder, np.fmod, np.floor_divide, np.hypot, np.copysign, np.heaviside, np.equal,
    np.less_equal, np.greater, np.logical_and, np.logical_xor, np.bitwise_and, np.bitwise_xor,
)  # fmt: skip
NUMBERS = (
    2,
    3,
    -1,
    0,
    0.5,
    -0.0,
    0.1,
    True,
    np.float32(0.1),
    np.float64(0.1),
    np.int8(2),
    np.inf,
    np.nan,
    2**40,
)
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 1.0, -1.0, 2.0, 3e38, -7.5)
TYPES = ("f4", "f8", "i4", "i8", "?", "i1", "u1", "f2")
SHAPES = (
    ((3, 4), (3, 4)), ((3, 4), (4,)), ((3, 1), (1, 4)), ((2, 3, 4), (3, 1)), ((4, 4), (4, 4)), ((1, 4), (1,)),
)  # fmt: skip


def steps(rng):
    """A program: what each step does to values before it, counted from the last."""

    def value():
        return int(rng.random() ** 2 * 4)

    def step():
        kind = rng.randrange(9)
        if kind < 2:
            return "call", rng.choice(UNARY), (value(),), {}
        if kind < 4:
            dtype = rng.choice([None] * 4 + ["f4", "f8", "i8"])
            other = rng.choice(NUMBERS) if rng.random() < 0.3 else None
            return "with", rng.choice(BINARY), (value(), value(), other), {"dtype": dtype} if dtype else {}
        if kind == 4:
            return "call", np.where, (value(), value(), value()), {}
        if kind == 5:
            options = {"axis": rng.choice([-1, 0, None]), "keepdims": rng.random() < 0.7}
            return "call", rng.choice([np.sum, np.max, np.min, np.mean]), (value(),), options
        if kind == 6:
            return "cast", rng.choice(TYPES), (value(),), {}
        if kind == 7:
            return "in place", rng.choice(BINARY[:4]), (value(), value()), {}
        return "masked", rng.choice(NUMBERS), (value(), value()), {}

    return [step() for _ in range(rng.randint(1, 6))]


def run(program, arrays):
    values = list(arrays)
    for kind, what, places, options in program:
        args = [values[-1 - place % len(values)] for place in places if isinstance(place, int)][: len(places)]
        if kind == "with":
            one, other, number = args[0], args[1], places[2]
            made = what(one, other if number is None else number, **options)
        elif kind == "call":
            made = what(*args, **options)
        elif kind == "cast":
            made = args[0].astype(what)
        elif kind == "in place":
            made = args[0].copy()
            what(made, args[1], out=made)
        else:
            made = args[0].copy()
            np.copyto(made, what, where=args[1] > 0)
        values.append(made)
    return values[-1]


def drawn(rng, shape, dtype):
    values = rng.normal(size=shape) * rng.choice([0.1, 1, 10])
    values = np.where(rng.random(shape) < 0.3, rng.choice(SPECIAL, size=shape), values)
    if np.dtype(dtype).kind == "f":
        return values.astype(dtype)
    return rng.integers(0 if dtype == "u1" else -5, 6, size=shape).astype(dtype)


@example(2109416)  # a mean of integers whose sum is beyond their type
@given(st.integers(0, 2**32))
def test_a_form_of_any_program_computes_what_the_program_does(seed):
    choose, rng = random.Random(seed), np.random.default_rng(seed)
    program = steps(choose)
    wide = choose.choice(["f4", "f8"])
    types = [choose.choice(TYPES) if choose.random() < 0.3 else wide for _ in "xy"]
    with np.errstate(all="ignore"):
        arrays = [drawn(rng, *pair) for pair in zip(choose.choice(SHAPES), types, strict=True)]
        places = [Traced(Node(FORM, drawn(rng, a.shape, a.dtype), is_input=True)) for a in arrays]
        inputs = [(f"x{i}", Traced(place.node)) for i, place in enumerate(places)]
        try:
            form, _ = form_of("f", inputs, [("y", run(program, places))])
            expected = np.asarray(run(program, [array.copy() for array in arrays]))
        except (
            TypeError,
            ValueError,
            ArithmeticError,
            IndexError,
        ):  # no form, or nothing that NumPy computes
            return
        shapes = {"y": expected.shape} | {f"x{i}": array.shape for i, array in enumerate(arrays)}
        (found,) = form.evaluate(arrays, form.space(shapes))
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    rtol = {2: 1e-2, 4: 1e-4}.get(expected.dtype.itemsize, 1e-6) if expected.dtype.kind == "f" else 0
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol)
