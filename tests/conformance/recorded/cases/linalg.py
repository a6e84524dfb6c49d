"""Linear algebra: the `_linalg_*` operators."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from tests.conformance.recorded.case import Array, Case, Recipe, exactly, integers, normal, uniform

NAN = float("nan")
FLAGS = (False, True)
WIDE_FLOATS = ("float32", "float64")


def _positive_definite(*batch: int, n: int, dtype: str = "float32") -> Recipe:
    """Symmetric, with eigenvalues well away from zero."""

    def draw(stream: np.random.RandomState) -> Array:
        root = stream.uniform(-1, 1, (*batch, n, n))
        return (root @ np.swapaxes(root, -1, -2) + n * np.eye(n)).astype(dtype)

    return draw


def _invertible(*batch: int, n: int, dtype: str = "float32") -> Recipe:
    """A dominant diagonal of both signs, both triangles filled."""

    def draw(stream: np.random.RandomState) -> Array:
        diagonal = np.diag(n * (-1.0) ** np.arange(n))
        return (stream.uniform(-1, 1, (*batch, n, n)) + diagonal).astype(dtype)

    return draw


def _lower_triangular(*batch: int, n: int, dtype: str = "float32") -> Recipe:
    """A lower triangle with a positive diagonal."""

    def draw(stream: np.random.RandomState) -> Array:
        return (np.tril(stream.uniform(-1, 1, (*batch, n, n)), -1) + 2 * np.eye(n)).astype(dtype)

    return draw


def _on_squares(op: str, recipe: Callable[..., Recipe], *, precision: float | None = None) -> list[Case]:
    """The cases of an operator whose one argument is a square matrix."""
    return [
        Case(op, "defaults", [recipe(n=3)]),
        Case(op, "two_rows", [recipe(n=2)]),
        Case(op, "one_by_one", [recipe(n=1)]),
        Case(op, "seven_rows", [recipe(n=7)], rtol=precision, atol=precision),
        Case(op, "batch", [recipe(3, n=2)]),
        Case(op, "batch_of_one", [recipe(1, n=3)]),
        Case(op, "batch_of_two_axes", [recipe(2, 2, n=3)]),
        Case(op, "float64", [recipe(n=4, dtype="float64")]),
    ]


def _products() -> list[Case]:
    cases = []
    for left, right in product(FLAGS, FLAGS):
        a, b = (4, 3) if left else (3, 4), (2, 4) if right else (4, 2)
        letters = ("t" if left else "n") + ("t" if right else "n")
        flags = {"transpose_a": left, "transpose_b": right}
        scaled = {**flags, "alpha": -0.5}
        cases += [
            Case("_linalg_gemm", letters, [normal(*a), normal(*b), normal(3, 2)], flags),
            Case(
                "_linalg_gemm",
                f"{letters}_scaled",
                [normal(*a), normal(*b), normal(3, 2)],
                {**scaled, "beta": 3.0},
            ),
            Case("_linalg_gemm2", letters, [normal(*a), normal(*b)], flags),
            Case("_linalg_gemm2", f"{letters}_batch_scaled", [normal(2, *a), normal(2, *b)], scaled),
        ]
    for dtype in WIDE_FLOATS:
        square = [normal(2, 3, 3, dtype=dtype) for _ in range(3)]
        cases += [
            Case("_linalg_gemm", f"batch_{dtype}", square),
            Case("_linalg_gemm2", f"batch_{dtype}", square[:2]),
        ]
    # `axis` is where the rows are; the columns stay last.
    rows_first = [normal(3, 2, 4), normal(4, 2, 2), normal(3, 2, 2)]
    four_axes = [normal(2, 3, 2, 4), normal(2, 4, 2, 2), normal(2, 3, 2, 2)]
    return [
        *cases,
        Case("_linalg_gemm", "axis_0", rows_first, {"axis": 0}),
        Case("_linalg_gemm2", "axis_0", rows_first[:2], {"axis": 0}),
        Case("_linalg_gemm", "axis_1_of_4", four_axes, {"axis": 1, "alpha": 2.0}),
        Case("_linalg_gemm2", "axis_minus_3", four_axes[:2], {"axis": -3}),
        Case("_linalg_gemm", "beta_0", [normal(2, 2), normal(2, 2), normal(2, 2)], {"beta": 0.0}),
        Case("_linalg_gemm", "beta_0_and_nan", [normal(1, 2), normal(2, 1), exactly([[NAN]])], {"beta": 0.0}),
        Case("_linalg_gemm2", "refused_no_batch", [normal(0, 2, 3), normal(0, 3, 2)]),
        Case("_linalg_gemm2", "axes_of_one", [normal(1, 1), normal(1, 1)]),
        Case("_linalg_gemm2", "alpha_0", [normal(2, 3), normal(3, 2)], {"alpha": 0.0}),
        Case("_linalg_gemm2", "refused_inner_axes_differ", [normal(2, 3), normal(2, 3)]),
        Case(
            "_linalg_gemm", "refused_batches_broadcast", [normal(2, 2, 2), normal(1, 2, 2), normal(2, 2, 2)]
        ),
    ]


def _triangular_products() -> list[Case]:
    cases = []
    for op, (transpose, rightside, lower) in product(
        ("_linalg_trmm", "_linalg_trsm"), product(FLAGS, FLAGS, FLAGS)
    ):
        words = [
            "transposed" if transpose else "plain",
            "right" if rightside else "left",
            "lower" if lower else "upper",
        ]
        params = {"transpose": transpose, "rightside": rightside, "lower": lower}
        b = (2, 3) if rightside else (3, 2)
        # Both triangles are filled: the other one must not be read.
        cases += [
            Case(op, "_".join(words), [_invertible(n=3), normal(*b)], params),
            Case(
                op,
                "_".join([*words, "batch"]),
                [_invertible(2, n=3, dtype="float64"), normal(2, *b, dtype="float64")],
                {**params, "alpha": -1.5},
            ),
        ]
    for op in ("_linalg_trmm", "_linalg_trsm"):
        cases += [
            Case(op, "defaults", [_lower_triangular(n=4), normal(4, 4)]),
            Case(op, "one_by_one", [_lower_triangular(n=1), normal(1, 1)]),
            Case(op, "one_column", [_lower_triangular(n=3), normal(3, 1)]),
            Case(op, "batch_of_two_axes", [_lower_triangular(2, 1, n=2), normal(2, 1, 2, 3)]),
            Case(op, "refused_batches_broadcast", [_lower_triangular(1, n=2), normal(2, 2, 3)]),
        ]
    return [
        *cases,
        Case("_linalg_trsm", "zero_on_diagonal", [exactly([[1, 0], [2, 0]]), normal(2, 2)], grad=[]),
    ]


def _symmetric_products() -> list[Case]:
    return [
        *(
            Case(
                "_linalg_syrk", f"{name}_{shape}", [normal(*sizes)], {"transpose": transpose, "alpha": alpha}
            )
            for (shape, sizes), (name, transpose, alpha) in product(
                {"wide": (2, 4), "tall": (4, 2), "batch": (2, 3, 2)}.items(),
                (("plain", False, 1.0), ("transposed", True, 1.0), ("scaled", False, -2.0)),
            )
        ),
        Case("_linalg_syrk", "one_by_one", [normal(1, 1)]),
        Case("_linalg_syrk", "row", [normal(1, 5)], {"transpose": True}),
        Case(
            "_linalg_syrk",
            "float64",
            [normal(2, 2, 3, 2, dtype="float64")],
            {"transpose": True, "alpha": 0.5},
        ),
        Case("_linalg_syrk", "refused_vector", [normal(3)]),
    ]


def _factorisations() -> list[Case]:
    return [
        *_on_squares("_linalg_potrf", _positive_definite),
        Case("_linalg_potrf", "refused_not_positive", [exactly([[1, 2], [2, 1]])]),
        Case("_linalg_potrf", "refused_not_square", [normal(2, 3)]),
        *_on_squares("_linalg_potri", _lower_triangular),
        Case("_linalg_potri", "upper_triangle_ignored", [_invertible(n=3)]),
        *(
            Case("_linalg_gelqf", name, [normal(*shape, dtype=dtype)])
            for name, shape, dtype in (
                ("defaults", (2, 4), "float32"),
                ("square", (3, 3), "float32"),
                ("one_row", (1, 5), "float32"),
                ("one_by_one", (1, 1), "float32"),
                ("batch", (3, 2, 3), "float32"),
                ("batch_of_two_axes", (2, 1, 2, 5), "float32"),
                ("float64", (3, 4), "float64"),
            )
        ),
        Case("_linalg_gelqf", "refused_more_rows_than_columns", [normal(3, 2)]),
        # The more eigenvalues, the closer they are, and the less of the vectors is determined.
        *_on_squares("_linalg_syevd", _positive_definite, precision=1e-4),
        Case("_linalg_syevd", "negative_eigenvalues", [exactly([[0.0, 2.0], [2.0, -3.0]])]),
        Case("_linalg_syevd", "diagonal", [exactly(np.diag([3.0, -1.0, 2.0]))]),
        Case("_linalg_syevd", "refused_not_square", [normal(2, 3)]),
    ]


def _determinants() -> list[Case]:
    singular = exactly([[1, 2], [2, 4]])
    return [
        *_on_squares("_linalg_inverse", _invertible),
        Case("_linalg_inverse", "permuted_rows", [exactly([[0, 2, 0], [0, 0, 4], [8, 0, 0]])]),
        Case("_linalg_inverse", "refused_singular", [singular]),
        Case("_linalg_inverse", "refused_not_square", [normal(2, 3)]),
        *_on_squares("_linalg_det", _invertible),
        Case("_linalg_det", "permuted_rows", [exactly([[0, 2, 0], [0, 0, 4], [8, 0, 0]])]),
        Case("_linalg_det", "singular", [singular], grad=[]),
        Case("_linalg_det", "zeros", [exactly(np.zeros((2, 2)))], grad=[]),
        *_on_squares("_linalg_slogdet", _invertible),
        Case("_linalg_slogdet", "singular", [singular], grad=[]),
        Case("_linalg_slogdet", "tiny_determinant", [exactly(np.diag([1e-20, 1e-20, -1e-20]))]),
        *_on_squares("_linalg_sumlogdiag", _lower_triangular),
        Case("_linalg_sumlogdiag", "negative_and_zero", [exactly([[[-1, 0], [0, 2]], [[0, 1], [1, 3]]])]),
    ]


def _diagonals() -> list[Case]:
    offsets = {"offset_1": 1, "offset_2": 2, "offset_minus_1": -1, "offset_minus_2": -2}
    cases = []
    for op, shapes in {
        "_linalg_extractdiag": ((3, 3), (2, 3, 3), (2, 1, 4, 4)),
        "_linalg_makediag": ((3,), (2, 3), (2, 1, 2)),
    }.items():
        one, batch, two_axes = shapes
        cases += [
            Case(op, "defaults", [normal(*one)]),
            *(Case(op, name, [normal(*one)], {"offset": offset}) for name, offset in offsets.items()),
            *(
                Case(op, f"batch_{name}", [normal(*batch)], {"offset": offset})
                for name, offset in offsets.items()
            ),
            Case(op, "batch_of_two_axes", [normal(*two_axes)], {"offset": 1}),
            Case(op, "float64", [normal(*batch, dtype="float64")], {"offset": -1}),
        ]
    return [
        *cases,
        Case("_linalg_extractdiag", "one_by_one", [normal(1, 1)]),
        Case("_linalg_makediag", "one", [normal(1)]),
        Case("_linalg_extractdiag", "refused_offset_too_large", [normal(2, 2)], {"offset": 2}),
        Case("_linalg_extractdiag", "refused_not_square", [normal(2, 3)]),
    ]


def _triangles() -> list[Case]:
    cases = []
    for lower, offset in product(FLAGS, (0, 1, -1, 2, -2)):
        name = f"{'lower' if lower else 'upper'}_offset_{'minus_' if offset < 0 else ''}{abs(offset)}"
        params = {"lower": lower, "offset": offset}
        cases += [
            Case("_linalg_extracttrian", name, [normal(4, 4)], params),
            Case("_linalg_maketrian", name, [uniform(6)], params),
        ]
    return [
        *cases,
        Case("_linalg_extracttrian", "one_by_one", [normal(1, 1)]),
        Case("_linalg_extracttrian", "batch", [normal(2, 3, 3)]),
        Case(
            "_linalg_extracttrian",
            "batch_of_two_axes",
            [normal(2, 1, 3, 3, dtype="float64")],
            {"lower": False},
        ),
        Case("_linalg_maketrian", "one", [normal(1)]),
        Case("_linalg_maketrian", "batch", [normal(2, 6)]),
        Case("_linalg_maketrian", "batch_of_two_axes", [normal(2, 1, 3, dtype="float64")], {"lower": False}),
        Case("_linalg_maketrian", "refused_length_of_no_triangle", [normal(5)]),
        Case("_linalg_extracttrian", "refused_int32", [integers(2, 2, dtype="int32")]),
    ]


CASES: list[Case] = [
    *_products(),
    *_triangular_products(),
    *_symmetric_products(),
    *_factorisations(),
    *_determinants(),
    *_diagonals(),
    *_triangles(),
]
