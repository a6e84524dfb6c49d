"""Random forms and arrays for them, on which every kernel must agree with NumPy bit by bit."""

from __future__ import annotations

import numpy as np

from operad.operator import Result
from operad_sdk.mapper.builder import Builder
from operator_sdk.sdk.tests.vector.guarded import guarded

LENGTHS = (1, 2, 3, 7, 15, 16, 17, 31, 33, 64, 65, 127, 130, 257)
UNARY = ("negative", "abs", "floor", "rint", "sign")
BINARY = ("add", "subtract", "multiply", "maximum", "minimum")
WHOLE = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64")
COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")


class Program:
    """A form, its space, and how its arrays lie.

    Args:
        rng: Every choice is drawn from it.
        is_exact: Numbers are small and whole, and sums of them have no rounding.
    """

    def __init__(self, rng, dtype, reduces):
        self.rng, self.dtype = rng, np.dtype(dtype)
        self.rank = int(rng.integers(1, 5))
        self.space = tuple(int(n) for n in rng.choice(LENGTHS, self.rank))
        while np.prod(self.space) > 60_000:
            self.space = tuple(max(1, n // 2) for n in self.space)
        self.reduced = [axis for axis in range(-self.rank, 0) if rng.integers(2)] or [-1]
        while np.prod([self.space[axis] for axis in self.reduced]) > 300:  # sums of sums stay exact
            self.space = tuple(
                max(1, n // 2) if i - self.rank in self.reduced else n for i, n in enumerate(self.space)
            )
        count = int(rng.integers(1, 4))
        kinds = [
            str(rng.choice(["real", "real", "real", "bool", "int32", "uint8", "int64", "float16"]))
            for _ in range(count)
        ]
        kinds[0] = "real"
        # Numbers of a call, of one element each.
        numbers = [str(one) for one in rng.choice(["real", "real", "bool", "float64"], rng.integers(0, 3))]
        if self.dtype == np.float64:
            numbers = ["real" if kind == "float64" else kind for kind in numbers]
        names = [f"x{i}" for i in range(count)] + [f"n{i}" for i in range(len(numbers))]
        self.builder = builder = Builder("random", names, kinds + numbers)
        self.values = [builder.cast(i, "real") for i in range(len(names))]
        self.numbers = self.values[count:]
        self.truths = []
        for _ in range(int(rng.integers(1, 12))):
            self.values.append(self.step(reduces))
        chosen = rng.choice(len(self.values), int(rng.integers(1, 4)))
        results = dict.fromkeys([self.values[-1], *(self.values[i] for i in chosen)])
        self.form = builder.finish(*(Result(position, f"y{i}") for i, position in enumerate(results)))
        self.inputs = [self.array(kind, i > 0) for i, kind in enumerate(kinds)]
        self.inputs += [self.number(kind) for kind in numbers]

    def pick(self):
        return self.values[self.rng.integers(len(self.values))]

    def step(self, reduces):
        rng, builder = self.rng, self.builder
        kind = rng.integers(10 if reduces else 9)
        if kind == 0:
            return builder.apply(str(rng.choice(UNARY)), self.pick())
        if kind in (1, 2):
            op = str(rng.choice(BINARY))
            if op == "multiply":  # by a number that keeps magnitudes small
                factors = [builder.constant(float(rng.choice([-1, 0, 2]))), *self.numbers]
                return builder.apply(op, self.pick(), factors[rng.integers(len(factors))])
            return builder.apply(op, self.pick(), self.pick())
        if kind == 3:
            self.truths.append(builder.apply(str(rng.choice(COMPARISONS)), self.pick(), self.pick()))
            if len(self.truths) > 1 and rng.integers(2):
                pair = [self.truths[i] for i in rng.integers(len(self.truths), size=2)]
                self.truths.append(builder.apply(str(rng.choice(["logical_and", "logical_or"])), *pair))
            return builder.cast(self.truths[-1], "real")
        if kind == 4 and self.truths:
            return builder.select(self.truths[rng.integers(len(self.truths))], self.pick(), self.pick())
        if kind == 5:
            return builder.apply("add", self.pick(), builder.length(int(rng.integers(self.rank))))
        if kind == 6:
            return self.whole(self.pick())
        if kind == 7:
            value, limits = self.pick(), [builder.constant(float(n)) for n in sorted(rng.integers(-3, 4, 2))]
            return builder.apply("minimum", builder.apply("maximum", value, limits[0]), limits[1])
        if kind == 8:
            return builder.cast(builder.position(int(rng.integers(self.rank))), "real")
        if kind == 9:
            return builder.over_axes(str(rng.choice(["sum", "max", "min"])), self.pick(), self.reduced)
        return builder.constant(float(rng.integers(-3, 4)))

    def whole(self, value):
        """A value by way of a type of integers, in which all but infinite ones fit."""
        builder, kind = self.builder, str(self.rng.choice(WHOLE))
        size = builder.apply("abs", value)
        fits = builder.apply("less", size, builder.constant(100.0))
        if kind.startswith("u"):
            value = size
        value = builder.select(
            fits, builder.apply("divide", value, builder.constant(2.0)), builder.constant(7.0)
        )
        return builder.cast(builder.cast(value, kind), "real")

    def array(self, kind, may_broadcast):
        """An array that broadcasts to the space, laid out in one of many ways."""
        rng = self.rng
        shape = [1 if may_broadcast and rng.integers(3) == 0 else n for n in self.space]
        dtype = self.dtype if kind == "real" else np.dtype(kind)
        if kind == "bool":
            data = rng.integers(0, 2, shape).astype(bool)
        else:
            data = rng.integers(0 if kind == "uint8" else -4, 5, shape).astype(dtype)
            if kind == "real" and rng.integers(4) == 0:
                special = rng.choice([np.nan, np.inf, -np.inf, -0.0], shape).astype(dtype)
                data = np.where(rng.integers(0, 50, shape) == 0, special, data)
        return self.laid_out(data)

    def number(self, kind):
        """A number of a call, beside pages that may not be touched."""
        dtype = self.dtype if kind == "real" else np.dtype(kind)
        found = guarded((), dtype, at_end=bool(self.rng.integers(2)))
        found[...] = self.rng.choice(
            [0.0, -0.0, 1, -1, 2, np.nan, np.inf, -np.inf][: 2 if kind == "bool" else 8]
        )
        return found

    def laid_out(self, data):
        """The same values at other strides: contiguous, transposed, reversed, or parts of a larger array."""
        rng = self.rng
        way, at_end = rng.integers(6), bool(rng.integers(2))
        if way == 0 and data.ndim > 1:
            order = rng.permutation(data.ndim)
            found = guarded([data.shape[i] for i in order], data.dtype, at_end=at_end)
            found = found.transpose(np.argsort(order))
        elif way == 1:
            found = guarded(data.shape, data.dtype, at_end=at_end)[..., ::-1]
        elif way == 2:
            larger = guarded([2 * n for n in data.shape], data.dtype, at_end=at_end)
            found = larger[tuple(slice(int(at_end), None, 2) for _ in data.shape)]
        else:
            found = guarded(data.shape, data.dtype, at_end=at_end)
        found[...] = data
        return found

    def expected(self):
        inputs = self.inputs
        if self.dtype == np.float16:  # which is computed in float32
            own = [step.kind == "real" for step in self.form.instructions]
            inputs = [x.astype(np.float32) if real else x for x, real in zip(inputs, own, strict=False)]
        with np.errstate(over="ignore"):
            return [np.asarray(value).astype(self.dtype) for value in self.form.evaluate(inputs, self.space)]

    def results(self):
        """Arrays to fill, with other numbers in them and around them."""
        made = []
        for result in self.form.results:
            kind = self.form.instructions[result.position].kind
            dtype = self.dtype if kind == "real" else np.dtype(kind)
            made.append(self.laid_out(np.full(self.space, 99).astype(dtype)))
        return made
