"""Matrix products: dot, batch_dot, khatri_rao."""

from __future__ import annotations

from itertools import product

from tests.conformance.recorded.case import Case, exactly, integers, normal

INF, NAN = float("inf"), float("nan")
FLAGS = (False, True)
# Half precision is for other devices than the processor.
DTYPES = {"float64": "float64", "refused_float16": "float16", "refused_int32": "int32"}


def _dot() -> list[Case]:
    shapes = {
        "vectors": ((4,), (4,)),
        "vectors_of_one": ((1,), (1,)),
        "row_by_matrix": ((1, 3), (3, 4)),
        "matrix_by_column": ((3, 4), (4, 1)),
        "inner_axis_of_one": ((3, 1), (1, 2)),
        "matrix_by_vector": ((3, 4), (4,)),
        "3d_by_vector": ((2, 3, 4), (4,)),
        "3d_by_matrix": ((2, 3, 4), (4, 5)),
        "matrix_by_3d": ((2, 3), (3, 4, 2)),
        "3d_by_3d": ((2, 2, 3), (3, 2, 4)),
        "4d_by_2d": ((2, 1, 2, 3), (3, 2)),
        "vector_by_3d": ((3,), (3, 2, 2)),
        "wide_inner_axis": ((2, 150), (150, 2)),
        "no_rows": ((0, 3), (3, 2)),
        "refused_inner_axes_differ": ((2, 3), (4, 2)),
    }
    transposed = {
        "transpose_a": ((4, 3), (4, 2), True, False),
        "transpose_b": ((3, 4), (2, 4), False, True),
        "transpose_both": ((4, 3), (2, 4), True, True),
        "transpose_a_3d": ((4, 2, 3), (4, 2), True, False),
        "transpose_b_3d": ((2, 4), (3, 2, 4), False, True),
        "transpose_both_3d": ((4, 2, 2), (3, 2, 4), True, True),
        "transpose_a_3d_by_3d": ((3, 2, 2), (3, 2, 2), True, False),
        "transpose_b_3d_by_3d": ((2, 2, 3), (2, 2, 3), False, True),
        "refused_transposed_vectors": ((3,), (3,), True, True),
    }
    return [
        *(Case("dot", name, [normal(*a), normal(*b)]) for name, (a, b) in shapes.items()),
        *(
            Case("dot", name, [normal(*a), normal(*b)], {"transpose_a": left, "transpose_b": right})
            for name, (a, b, left, right) in transposed.items()
        ),
        *(
            Case("dot", name, [integers(3, 4, dtype=dtype), integers(4, 2, dtype=dtype)])
            for name, dtype in DTYPES.items()
        ),
        Case("dot", "gradient_of_rhs_alone", [normal(2, 3), normal(3, 2)], grad=[1]),
        Case("dot", "nan_and_inf", [exactly([[NAN, 1.0], [INF, 2.0], [0.0, 3.0]]), exactly([[1.0], [-INF]])]),
        Case("dot", "large_values_overflow", [exactly([[1e30, 1.0]]), exactly([[1e30], [1.0]])]),
    ]


def _batch_dot() -> list[Case]:
    shapes = {
        "defaults": ((2, 3, 4), (2, 4, 2)),
        "batch_of_one": ((1, 2, 3), (1, 3, 2)),
        "axes_of_one": ((3, 1, 1), (3, 1, 1)),
        "inner_products": ((4, 1, 3), (4, 3, 1)),
        "outer_products": ((2, 3, 1), (2, 1, 3)),
        "4d": ((2, 2, 2, 3), (2, 2, 3, 2)),
        "no_batch": ((0, 2, 3), (0, 3, 2)),
        "refused_matrices": ((2, 3), (3, 2)),
        "refused_batches_differ": ((2, 2, 3), (1, 3, 2)),
    }
    transposed = {
        "transpose_a": ((2, 4, 3), (2, 4, 2), True, False),
        "transpose_b": ((2, 3, 4), (2, 2, 4), False, True),
        "transpose_both": ((2, 4, 3), (2, 2, 4), True, True),
        "transpose_both_4d": ((2, 1, 3, 2), (2, 1, 2, 3), True, True),
    }
    return [
        *(Case("batch_dot", name, [normal(*a), normal(*b)]) for name, (a, b) in shapes.items()),
        *(
            Case("batch_dot", name, [normal(*a), normal(*b)], {"transpose_a": left, "transpose_b": right})
            for name, (a, b, left, right) in transposed.items()
        ),
        *(
            Case("batch_dot", name, [integers(2, 3, 2, dtype=dtype), integers(2, 2, 3, dtype=dtype)])
            for name, dtype in DTYPES.items()
        ),
        Case("batch_dot", "nan_stays_in_its_batch", [exactly([[[NAN, 1.0]], [[2.0, 3.0]]]), normal(2, 2, 2)]),
    ]


def _khatri_rao() -> list[Case]:
    rows = {
        "one_matrix": (3,),
        "two_matrices": (2, 3),
        "three_matrices": (2, 3, 2),
        "four_matrices": (1, 2, 1, 2),
        "one_row_each": (1, 1),
        "no_rows": (0, 2),
    }
    return [
        *(
            # MXNet registers no gradient here.
            Case("khatri_rao", name, [normal(n, 4) for n in counts], grad=[])
            for name, counts in rows.items()
        ),
        *(
            Case("khatri_rao", name, [integers(2, 3, dtype=dtype), integers(3, 3, dtype=dtype)], grad=[])
            for name, dtype in DTYPES.items()
        ),
        Case("khatri_rao", "one_column", [normal(3, 1), normal(2, 1)], grad=[]),
        Case("khatri_rao", "with_nan", [exactly([[NAN, 1.0]]), exactly([[0.0, 2.0], [1.0, INF]])], grad=[]),
        Case("khatri_rao", "refused_columns_differ", [normal(2, 3), normal(2, 4)], grad=[]),
    ]


def _gradients_of_products() -> list[Case]:
    """Every pairing of transposes, with one factor needing no gradient."""
    return [
        Case(
            "batch_dot",
            f"gradient_of_{('lhs', 'rhs')[wanted]}_{'t' if left else 'n'}{'t' if right else 'n'}",
            [normal(2, *((3, 2) if left else (2, 3))), normal(2, *((2, 3) if right else (3, 2)))],
            {"transpose_a": left, "transpose_b": right},
            grad=[wanted],
        )
        for left, right, wanted in product(FLAGS, FLAGS, (0, 1))
    ]


CASES: list[Case] = [*_dot(), *_batch_dot(), *_khatri_rao(), *_gradients_of_products()]
