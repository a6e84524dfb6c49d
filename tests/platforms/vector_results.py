"""Results of vector code to be compared between processors: of forms, convolutions and products.

`python -m tests.platforms.vector_results write FILE` computes them on the processor that runs it, and
`... compare ONE OTHER` says how many elements of two such files differ. Forms and products must have the same
bits on all processors with vector code. Where there is none, NumPy computes the same, which must be near.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from operad.operator import ScalarForm
from operad_convolution.direct import layer
from operad_convolution.direct.across import AcrossForward, AcrossWeightGradient
from operad_convolution.direct.direct import Forward, WeightGradient
from operad_convolution.direct.layer import DirectCorrelation
from operad_sdk.mapper.builder import Builder
from operad_sdk.vector import CompiledForm, reason_against, tiled_product
from operator_sdk.sdk.tests.vector.programs import Program
from plugins.convolution.tests.correlations import Sizes, context, five

DTYPES = (np.dtype("float32"), np.dtype("float64"))
FUNCTIONS = (
    "abs", "ceil", "cosh", "exp", "exp2", "expm1", "floor", "log", "log10", "log1p", "log2", "negative",
    "rint", "sinh", "sqrt", "tanh",
)  # fmt: skip
SEEDS = range(12)
VECTOR_CODE = "by vector code"
NEAR = 1e-5
"""Largest distance of results that were not computed by the same instructions."""


def forms() -> Iterator[tuple[str, np.ndarray]]:
    """Functions of elements, a softmax with its sums, and random forms on arrays of any layout."""
    for dtype in DTYPES:
        rng = np.random.default_rng(1)
        # By powers of two, which round nothing: NumPy's functions depend on the processor.
        x = np.ldexp(rng.standard_normal(1531), rng.integers(-28, 8, 1531)).astype(dtype)
        x[:6] = np.nan, np.inf, -np.inf, -0.0, 0.0, np.finfo(dtype).tiny / 4
        for name in (*FUNCTIONS, *(("erf", "erfc") if dtype == "float32" else ())):
            builder = Builder(name, ["x"])
            yield f"{name} {dtype}", computed(builder.finish(builder.apply(name, 0)), dtype, x)
        yield f"softmax {dtype}", computed(softmax(), dtype, rng.standard_normal((23, 257)).astype(dtype))
        for seed in SEEDS:
            program = Program(np.random.default_rng([seed, 0]), dtype, True)
            found = program.results()
            if reason_against() is None:
                CompiledForm(program.form, dtype)(program.inputs, found)
            else:
                found = program.expected()
            for number, one in enumerate(found):
                yield f"form {seed} {dtype} {number}", one


def softmax() -> ScalarForm:
    """Powers over their sums along rows."""
    builder = Builder("softmax", ["x"])
    largest = builder.over_axes("max", 0, [-1])
    powers = builder.apply("exp", builder.apply("subtract", 0, largest))
    return builder.finish(builder.apply("divide", powers, builder.over_axes("sum", powers, [-1])))


def computed(form: ScalarForm, dtype: np.dtype, x: np.ndarray) -> np.ndarray:
    """The result of a form of one array, by vector code where there is any."""
    if reason_against() is not None:
        with np.errstate(all="ignore"):
            return np.asarray(form.evaluate([x], x.shape)[0], dtype)
    found = np.empty_like(x)
    CompiledForm(form, dtype)([x], [found])
    return found


def convolutions() -> Iterator[tuple[str, np.ndarray]]:
    """Output and gradients of correlations of random sizes, by either kind of kernel."""
    kinds = {"pixels": (Forward, WeightGradient), "filters": (AcrossForward, AcrossWeightGradient)}
    for kind, (layer.forward_program, layer.weight_program) in kinds.items():  # as the tests of each do
        for seed in SEEDS:
            dtype = DTYPES[seed % 2]
            sizes = Sizes(seed, dtype)
            if reason_against() is None:
                found = [
                    np.full(each.shape, np.nan, dtype) for each in (sizes.head, sizes.data, sizes.weight)
                ]
                direct = DirectCorrelation(sizes.geometry, dtype)
                data, head, weight = map(five, (sizes.data, sizes.head, sizes.weight))
                direct.correlate(context(), data, weight, sizes.bias, five(found[0]))
                direct.data_gradient(context(), weight, head, None, five(found[1]))
                direct.weight_gradient(context(), data, head, five(found[2]))
            else:
                found = [each.astype(dtype) for each in sizes.expected()]
            for name, one in zip(("output", "data_grad", "weight_grad"), found, strict=True):
                yield f"convolution {kind} {seed} {name}", one


def products() -> Iterator[tuple[str, np.ndarray]]:
    """Products of matrices with few and with many tiles."""
    rng = np.random.default_rng(3)
    for dtype in DTYPES:
        for rows, inner, columns in ((7, 33, 17), (40, 129, 53), (101, 260, 31)):
            left, right = (
                rng.standard_normal(shape).astype(dtype) for shape in ((rows, inner), (inner, columns))
            )
            found = np.empty((rows, columns), dtype)
            if reason_against() is None:
                tiled_product(left, right, found, None)
            else:
                np.matmul(left, right, found)
            yield f"product {rows}x{inner}x{columns} {dtype}", found


@final
@dataclass(frozen=True, slots=True)
class Difference:
    """Difference between the results of two processors.

    Attributes:
        elements: How many there are.
        differing: How many have other bits; NaN is NaN.
        distance: The largest, relative to the largest finite number of its array; infinite where only one
            of two elements is finite.
    """

    elements: int
    differing: int
    distance: float

    def text(self) -> str:
        """The figures."""
        most = f", by {self.distance:.1e} of the largest at most" if self.differing else ""
        return f"{self.differing:,} of {self.elements:,} elements differ{most}"


def difference(pairs: Iterable[tuple[np.ndarray, np.ndarray]]) -> Difference:
    """Compare arrays of one processor with those of another."""
    elements = differing = 0
    distance = 0.0
    for one, other in pairs:
        is_same = (one == other) & (np.signbit(one) == np.signbit(other)) | np.isnan(one) & np.isnan(other)
        is_finite = np.isfinite(one) & np.isfinite(other)
        scale = float(np.abs(one[is_finite]).max(initial=0)) or 1.0
        apart = np.abs(one[is_finite].astype("float64") - other[is_finite])
        distance = max(distance, float(apart.max(initial=0)) / scale)
        if (~is_finite & (one != other) & ~is_same).any():
            distance = np.inf
        elements, differing = elements + one.size, differing + int((~is_same).sum())
    return Difference(elements, differing, distance)


def write(path: Path) -> str:
    """Compute all and write them to a file of NumPy's; returns how they were computed."""
    found = {
        f"{make.__name__}: {name}": np.ascontiguousarray(one)
        for make in (forms, convolutions, products)
        for name, one in make()
    }
    how = reason_against() or VECTOR_CODE
    with path.open("wb") as file:
        np.savez(file, how=np.array(how), **found)
    return how


def compare(one: Path, other: Path) -> Iterator[tuple[str, bool]]:
    """Compare two files; gives a line for each kind of results, and whether it is as it must be."""
    with np.load(one) as first, np.load(other) as second:
        if first.files != second.files:
            raise SystemExit(f"{one} and {other} hold other results; write both again")
        is_vector_code = {str(each["how"]) for each in (first, second)} == {VECTOR_CODE}
        for make in (forms, convolutions, products):
            names = [name for name in first.files if name.startswith(f"{make.__name__}: ")]
            found = difference((first[name], second[name]) for name in names)
            # Which rows of taps a tile sees decides how they are added up, and tiles follow the registers.
            is_exact = is_vector_code and make is not convolutions
            yield (
                f"{make.__name__}: {found.text()}",
                found.distance < NEAR and not (is_exact and found.differing),
            )


def main(words: list[str]) -> int:
    """Write, or compare; exit 1 where results are not as they must be."""
    if words[0] == "write":
        print(write(Path(words[1])))
        return 0
    lines = list(compare(Path(words[1]), Path(words[2])))
    print("; ".join(line for line, _ in lines))
    return int(not all(is_right for _, is_right in lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
