"""Sorting, counting, and the lesser operators that look up or write by index."""

from __future__ import annotations

from itertools import product

from tests.conformance.recorded.case import Case, exactly, integers, normal, permutation

INF = float("inf")
DTYPES = ("float64", "uint8", "int8", "int32", "int64")
INDEX_DTYPES = ("float16", "float32", "float64", "uint8", "int32", "int64")
TIED = exactly([[2, 1, 2, 1, 2], [0, 0, 0, 0, 0]])


def _sort() -> list[Case]:
    """Cases of sorting; MXNet has a gradient only where the axis is named, and none of indices."""
    last = {"axis": -1}
    cases = []
    for op, grad in (("sort", [0]), ("argsort", [])):
        cases += [
            Case(op, "defaults", [permutation(3, 4)], grad=[]),
            Case(op, "descending", [permutation(3, 4)], {**last, "is_ascend": False}, grad=grad),
            Case(op, "axis_0", [permutation(3, 4)], {"axis": 0}, grad=grad),
            Case(op, "middle_axis", [permutation(2, 3, 2)], {"axis": 1}, grad=grad),
            Case(op, "negative_axis", [permutation(2, 3, 2)], {"axis": -2, "is_ascend": False}, grad=grad),
            Case(op, "flattened", [permutation(2, 5)], {"axis": None}, grad=grad),
            Case(
                op, "flattened_descending", [permutation(2, 5)], {"axis": None, "is_ascend": False}, grad=grad
            ),
            Case(op, "no_rows", [normal(0, 3)], last, grad=grad),
            Case(op, "vector", [permutation(7)], last, grad=grad),
            Case(op, "axis_of_one", [permutation(3, 1)], last, grad=grad),
            Case(op, "infinite", [exactly([1, -INF, INF, 0])], last, grad=grad),
            Case(op, "ties", [TIED], last, grad=grad),
            Case(op, "ties_descending", [TIED], {**last, "is_ascend": False}, grad=grad),
            Case(op, "ties_of_columns", [exactly([[1, 0], [1, 0], [0, 1]])], {"axis": 0}, grad=grad),
            Case(op, "refused_axis_too_large", [permutation(2, 2)], {"axis": 2}, grad=grad),
            *(Case(op, f"of_{dtype}", [permutation(2, 4, dtype=dtype)], grad=[]) for dtype in DTYPES),
        ]
    return [
        *cases,
        *(Case("argsort", f"to_{t}", [permutation(2, 4)], {"dtype": t}, grad=[]) for t in INDEX_DTYPES),
        Case("argsort", "gradient_is_zero", [permutation(2, 3)]),
    ]


def _topk() -> list[Case]:
    returned = {"indices": [], "value": [0], "both": [0], "mask": []}
    cases = [
        Case(
            "topk",
            f"{ret_typ}_{'ascending' if ascending else 'descending'}_{name}",
            [permutation(2, 3, 2)],
            {"ret_typ": ret_typ, "is_ascend": ascending, "axis": axis, "k": 2},
            grad=grad,
        )
        for (ret_typ, grad), ascending, (name, axis) in product(
            returned.items(), (False, True), (("last", -1), ("first", 0), ("middle", 1), ("flattened", None))
        )
    ]
    both = {"ret_typ": "both", "k": 2}
    return [
        *cases,
        Case("topk", "defaults", [permutation(3, 4)], grad=[]),
        Case("topk", "gradient_of_indices_is_zero", [permutation(3, 4)]),
        Case("topk", "gradient_of_mask_is_zero", [permutation(3, 4)], {"ret_typ": "mask"}),
        Case("topk", "everything", [permutation(2, 3)], {**both, "k": 3}),
        Case("topk", "k_0_takes_everything", [permutation(2, 3)], {**both, "k": 0}),
        Case("topk", "k_negative_takes_everything", [permutation(2, 3)], {**both, "k": -1}),
        Case("topk", "no_rows", [normal(0, 3)], both),
        Case("topk", "axis_of_one", [permutation(3, 1)], {**both, "k": 1}),
        Case("topk", "infinite", [exactly([1, -INF, INF, 0])], both),
        Case("topk", "ties", [TIED], {**both, "k": 3}),
        Case("topk", "ties_ascending", [TIED], {**both, "k": 3, "is_ascend": True}),
        Case("topk", "ties_masked", [TIED], {"ret_typ": "mask", "k": 2}, grad=[]),
        Case("topk", "refused_k_too_large", [permutation(2, 3)], {"k": 4}),
        *(Case("topk", f"of_{t}", [permutation(2, 4, dtype=t)], both, grad=[]) for t in DTYPES),
        *(Case("topk", f"to_{t}", [permutation(2, 4)], {**both, "dtype": t}, grad=[]) for t in INDEX_DTYPES),
    ]


def _flat_indices() -> list[Case]:
    """Cases of flat indices, of coordinates in columns, one row per axis."""
    points = exactly([[0, 1, 3], [2, 0, 4]])
    flat = exactly([0, 7, 19])
    shape = {"shape": (4, 5)}
    ravel, unravel = "_ravel_multi_index", "_unravel_index"
    return [
        Case(ravel, "defaults", [points], shape, grad=[]),
        Case(ravel, "one_axis", [exactly([[0, 3, 2]])], {"shape": (4,)}, grad=[]),
        Case(ravel, "three_axes", [exactly([[1, 0], [2, 1], [3, 0]])], {"shape": (2, 3, 4)}, grad=[]),
        Case(ravel, "first_axis_unknown", [points], {"shape": (-1, 5)}, grad=[]),
        Case(ravel, "axis_of_one", [exactly([[2], [0]])], {"shape": (3, 1)}, grad=[]),
        Case(ravel, "beyond_shape", [exactly([[5], [7]])], shape, grad=[]),
        Case(ravel, "refused_rows_not_axes", [exactly([[1], [2], [3]])], shape, grad=[]),
        Case(unravel, "defaults", [flat], shape, grad=[]),
        Case(unravel, "one_axis", [exactly([0, 3, 2])], {"shape": (4,)}, grad=[]),
        Case(unravel, "three_axes", [exactly([23, 0, 11])], {"shape": (2, 3, 4)}, grad=[]),
        Case(unravel, "matrix", [exactly([[0, 7], [19, 4]])], shape, grad=[]),
        Case(unravel, "first_axis_unknown", [flat], {"shape": (-1, 5)}, grad=[]),
        Case(unravel, "axis_of_one", [exactly([2, 0])], {"shape": (3, 1)}, grad=[]),
        Case(unravel, "beyond_shape", [exactly([21])], shape, grad=[]),
        *(Case(ravel, t, [exactly([[0, 3], [2, 4]], t)], shape, grad=[]) for t in INDEX_DTYPES),
        *(Case(unravel, t, [exactly([0, 7, 19], t)], shape, grad=[]) for t in INDEX_DTYPES),
    ]


def _histogram() -> list[Case]:
    data = exactly([0.0, 0.1, 0.5, 1.0, 1.0, 2.5, 4.0, -1.0, 9.0])
    edges = exactly([0.0, 1.0, 2.0, 4.0])
    op = "_histogram"
    return [
        Case(op, "edges", [data, edges], grad=[]),
        Case(op, "one_bin", [data, exactly([0.0, 1.0])], grad=[]),
        Case(op, "uneven_edges", [normal(20), exactly([-2.0, -0.5, 0.0, 0.1, 3.0])], grad=[]),
        Case(op, "count_and_range", [data], {"bin_cnt": 4, "range": (0, 4)}, grad=[]),
        Case(op, "count_of_one", [data], {"bin_cnt": 1, "range": (0, 1)}, grad=[]),
        Case(op, "range_of_fractions", [normal(20)], {"bin_cnt": 5, "range": (-1.5, 1.0)}, grad=[]),
        Case(op, "no_data", [normal(0)], {"bin_cnt": 2, "range": (0, 1)}, grad=[]),
        Case(op, "matrix", [normal(4, 5)], {"bin_cnt": 3, "range": (-1, 1)}, grad=[]),
        Case(op, "infinite", [exactly([INF, -INF, 0.5])], {"bin_cnt": 2, "range": (0, 1)}, grad=[]),
        *(
            Case(op, f"of_{t}", [integers(9, low=0, dtype=t)], {"bin_cnt": 5, "range": (0, 5)}, grad=[])
            for t in ("float64", "int32", "int64", "uint8")
        ),
    ]


def _boolean_mask() -> list[Case]:
    op = "_contrib_boolean_mask"
    return [
        Case(op, "defaults", [normal(3, 2), exactly([1, 0, 1])], grad=[0]),
        Case(op, "refused_axis_1", [normal(2, 3), exactly([0, 1, 1])], {"axis": 1}, grad=[0]),
        Case(op, "all", [normal(3, 2), exactly([1, 1, 1])], grad=[0]),
        Case(op, "other_than_0_and_1", [normal(4), exactly([-1, 0, 0.5, 2])], grad=[0]),
        Case(op, "gradient_of_mask_is_zero", [normal(3, 2), exactly([1, 0, 1])]),
        Case(op, "vector", [normal(4), exactly([0, 0, 1, 0])], grad=[0]),
        Case(op, "none", [normal(2, 3), exactly([0, 0])], grad=[]),
        Case(op, "refused_wrong_length", [normal(3, 2), exactly([1, 0])], grad=[0]),
        *(Case(op, f"by_{t}", [normal(3, 2), exactly([1, 0, 1], t)], grad=[0]) for t in INDEX_DTYPES),
        *(Case(op, f"of_{t}", [integers(3, 2, low=0, dtype=t), exactly([1, 0, 1])], grad=[]) for t in DTYPES),
    ]


def _writes() -> list[Case]:
    copy, fill, encode = "_contrib_index_copy", "fill_element_0index", "_onehot_encode"
    old = normal(4, 3)
    return [
        Case(copy, "defaults", [old, exactly([2, 0], "int32"), normal(2, 3)], grad=[0, 2]),
        Case(copy, "every_row", [old, exactly([3, 1, 0, 2], "int64"), normal(4, 3)], grad=[0, 2]),
        Case(copy, "one_row", [old, exactly([3], "int32"), normal(1, 3)], grad=[0, 2]),
        Case(copy, "vectors", [normal(5), exactly([4, 1], "int32"), normal(2)], grad=[0, 2]),
        Case(copy, "3d", [normal(3, 2, 2), exactly([1], "int32"), normal(1, 2, 2)], grad=[0, 2]),
        Case(copy, "float_indices", [old, exactly([2, 0]), normal(2, 3)], grad=[0, 2]),
        Case(copy, "refused_rows_differ", [old, exactly([0, 1], "int32"), normal(1, 3)], grad=[]),
        *(
            Case(
                copy,
                t,
                [integers(3, 2, low=0, dtype=t), exactly([1], "int32"), integers(1, 2, low=0, dtype=t)],
                grad=[],
            )
            for t in ("float16", "float64", "int32")
        ),
        # These two come from the first interface: they have no gradient and take float32 alone.
        Case(fill, "defaults", [normal(3, 4), normal(3), exactly([0, 3, 1])], grad=[]),
        Case(fill, "one_row", [normal(1, 4), normal(1), exactly([2])], grad=[]),
        Case(fill, "one_column", [normal(3, 1), normal(3), exactly([0, 0, 0])], grad=[]),
        Case(fill, "same_column", [normal(3, 2), normal(3), exactly([1, 1, 1])], grad=[]),
        Case(fill, "infinite", [normal(2, 2), exactly([INF, -INF]), exactly([1, 0])], grad=[]),
        Case(fill, "fractions", [normal(2, 3), normal(2), exactly([0.9, 1.5])], grad=[]),
        Case(encode, "defaults", [exactly([0, 3, 1]), normal(3, 4)], grad=[]),
        Case(encode, "one_row", [exactly([2]), normal(1, 4)], grad=[]),
        Case(encode, "one_column", [exactly([0, 0, 0]), normal(3, 1)], grad=[]),
        Case(encode, "same_column", [exactly([1, 1, 1]), normal(3, 2)], grad=[]),
        Case(encode, "fractions", [exactly([0.9, 1.5]), normal(2, 3)], grad=[]),
        Case(encode, "earlier_values_cleared", [exactly([1, 0]), exactly([[7, 7], [7, 7]])], grad=[]),
    ]


CASES: list[Case] = [
    *_sort(),
    *_topk(),
    *_flat_indices(),
    *_histogram(),
    *_boolean_mask(),
    *_writes(),
]
