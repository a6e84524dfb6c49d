"""Operators that look up or write elements by index."""

from __future__ import annotations

from typing import Any

from tests.conformance.recorded.case import Case, Recipe, exactly, integers, normal

NAN, INF = float("nan"), float("inf")
DTYPES = ("float16", "float64", "int8", "uint8", "int32", "int64")
INDEX_DTYPES = ("float16", "float64", "uint8", "int8", "int32", "int64")


def _index(*shape: int, below: int, dtype: str = "float32") -> Recipe:
    """Indices in range; where there are more of them than places, some come twice."""
    return integers(*shape, low=0, high=below, dtype=dtype)


def _take() -> list[Case]:
    out_of_range = exactly([[-1, 0, 5], [-7, 2, 3]])
    return [
        Case("take", "defaults", [normal(4, 3), _index(2, below=4)], grad=[0]),
        Case("take", "matrix_of_indices", [normal(4, 3), _index(2, 3, below=4)], grad=[0]),
        Case("take", "from_vector", [normal(5), _index(2, 2, below=5)], grad=[0]),
        Case("take", "axis_1", [normal(2, 3, 2), _index(4, below=3)], {"axis": 1}, grad=[0]),
        Case("take", "last_axis", [normal(2, 3, 4), _index(2, 2, below=4)], {"axis": 2}, grad=[0]),
        Case("take", "negative_axis", [normal(2, 3, 4), _index(3, below=4)], {"axis": -1}, grad=[0]),
        Case("take", "negative_axis_inside", [normal(2, 3, 4), _index(3, below=3)], {"axis": -2}, grad=[0]),
        Case("take", "one_index_often", [normal(3, 2), exactly([1, 1, 1, 1])], grad=[0]),
        Case("take", "no_indices", [normal(3, 2), normal(0)], grad=[0]),
        Case("take", "axis_of_one", [normal(1, 3), exactly([0, 0])], grad=[0]),
        Case("take", "clip_out_of_range", [normal(3, 2), out_of_range], {"mode": "clip"}, grad=[0]),
        Case("take", "wrap_out_of_range", [normal(3, 2), out_of_range], {"mode": "wrap"}, grad=[0]),
        Case("take", "clip_axis_1", [normal(2, 3), out_of_range], {"mode": "clip", "axis": 1}, grad=[0]),
        Case("take", "wrap_axis_1", [normal(2, 3), out_of_range], {"mode": "wrap", "axis": 1}, grad=[0]),
        Case("take", "raise_in_range", [normal(3, 2), exactly([2, 0])], {"mode": "raise"}, grad=[0]),
        Case("take", "refused_raise_out_of_range", [normal(3, 2), out_of_range], {"mode": "raise"}, grad=[0]),
        Case("take", "fractions", [normal(4, 2), exactly([0.9, 1.5, 2.999])], grad=[0]),
        Case("take", "negative_fractions", [normal(4, 2), exactly([-0.9, -1.5])], {"mode": "wrap"}, grad=[0]),
        Case("take", "gradient_of_indices_is_zero", [normal(4, 2), _index(3, below=4)]),
        Case("take", "nan_and_inf_kept", [exactly([NAN, INF, 1]), exactly([1, 0, 0])], grad=[0]),
        *(
            Case("take", f"of_{t}", [integers(3, 2, low=0, dtype=t), _index(4, below=3)], grad=[])
            for t in DTYPES
        ),
        *(
            Case("take", f"by_{t}", [normal(3, 2), _index(4, below=3, dtype=t)], {"axis": 0}, grad=[0])
            for t in INDEX_DTYPES
        ),
    ]


def _batch_take() -> list[Case]:
    """Cases of batch_take, for which MXNet registers no gradient."""
    return [
        Case("batch_take", "defaults", [normal(4, 3), _index(4, below=3, dtype="int32")], grad=[]),
        Case("batch_take", "one_column", [normal(3, 1), exactly([0, 0, 0], "int32")], grad=[]),
        Case("batch_take", "one_row", [normal(1, 4), exactly([2], "int32")], grad=[]),
        Case("batch_take", "out_of_range", [normal(3, 2), exactly([-1, 2, 7], "int32")], grad=[]),
        Case(
            "batch_take", "matrix_of_indices", [normal(4, 3), _index(2, 2, below=3, dtype="int32")], grad=[]
        ),
        Case("batch_take", "float64", [normal(2, 3, dtype="float64"), exactly([1, 2], "int32")], grad=[]),
        Case("batch_take", "refused_float_indices", [normal(2, 3), exactly([1, 2])], grad=[]),
        Case("batch_take", "refused_too_few_indices", [normal(3, 2), exactly([1], "int32")], grad=[]),
    ]


def _pick() -> list[Case]:
    out_of_range = exactly([-1, 4, 9])
    return [
        Case("pick", "defaults", [normal(3, 4), _index(3, below=4)], grad=[0]),
        Case("pick", "axis_0", [normal(3, 4), _index(4, below=3)], {"axis": 0}, grad=[0]),
        Case("pick", "keepdims", [normal(3, 4), _index(3, below=4)], {"keepdims": True}, grad=[0]),
        Case("pick", "index_with_kept_axis", [normal(3, 4), _index(3, 1, below=4)], grad=[0]),
        Case(
            "pick",
            "index_and_result_kept",
            [normal(3, 4), _index(3, 1, below=4)],
            {"keepdims": True},
            grad=[0],
        ),
        Case("pick", "middle_axis", [normal(2, 3, 2), _index(2, 2, below=3)], {"axis": 1}, grad=[0]),
        Case("pick", "negative_axis", [normal(2, 3, 2), _index(2, 2, below=3)], {"axis": -2}, grad=[0]),
        Case("pick", "from_vector", [normal(4), exactly([2])], grad=[0]),
        Case("pick", "refused_no_axis", [normal(2, 3), exactly([4])], {"axis": None}, grad=[0]),
        Case("pick", "no_rows", [normal(0, 3), normal(0)], grad=[0]),
        Case("pick", "axis_of_one", [normal(3, 1), exactly([0, 0, 0])], grad=[0]),
        Case("pick", "clip_out_of_range", [normal(3, 4), out_of_range], {"mode": "clip"}, grad=[0]),
        Case("pick", "wrap_out_of_range", [normal(3, 4), out_of_range], {"mode": "wrap"}, grad=[0]),
        Case("pick", "fractions", [normal(3, 4), exactly([0.9, 1.5, 2.999])], grad=[0]),
        Case("pick", "gradient_of_index_is_zero", [normal(3, 4), _index(3, below=4)]),
        Case("pick", "refused_shapes_differ", [normal(3, 4), exactly([0, 1])], grad=[0]),
        *(
            Case("pick", f"of_{t}", [integers(2, 3, low=0, dtype=t), exactly([2, 0])], grad=[])
            for t in DTYPES
        ),
        *(Case("pick", f"by_{t}", [normal(2, 3), exactly([2, 0], t)], grad=[0]) for t in INDEX_DTYPES),
    ]


def _one_hot() -> list[Case]:
    dtypes = ("float16", "float64", "int8", "uint8", "int32", "int64")
    on_off = {"on_value": 2.5, "off_value": -1.25}
    return [
        Case("one_hot", "defaults", [exactly([1, 0, 2])], {"depth": 3}, grad=[]),
        Case("one_hot", "matrix", [_index(2, 3, below=4)], {"depth": 4}, grad=[]),
        Case("one_hot", "values", [exactly([1, 0, 2])], {"depth": 4, **on_off}, grad=[]),
        Case(
            "one_hot",
            "values_truncated",
            [exactly([1, 0])],
            {"depth": 2, **on_off, "dtype": "int32"},
            grad=[],
        ),
        Case("one_hot", "out_of_range", [exactly([-1, 3, 7, 1])], {"depth": 3}, grad=[]),
        Case("one_hot", "no_indices", [normal(0)], {"depth": 2}, grad=[]),
        Case("one_hot", "depth_of_one", [exactly([0, 1])], {"depth": 1}, grad=[]),
        Case("one_hot", "fractions", [exactly([0.5, 1.9])], {"depth": 3}, grad=[]),
        Case("one_hot", "gradient_is_zero", [exactly([1, 0])], {"depth": 2}),
        *(
            Case("one_hot", f"to_{t}", [exactly([1, 0, 2])], {"depth": 3, "dtype": t}, grad=[])
            for t in dtypes
        ),
        *(Case("one_hot", f"by_{t}", [exactly([1, 0, 2], t)], {"depth": 3}, grad=[]) for t in INDEX_DTYPES),
    ]


TWICE = exactly([[0, 1, 0], [2, 0, 2]])


def _gathered() -> list[Case]:
    """The columns of the indices are coordinates in the leading axes."""
    points = [[0, 1], [2, 0]]
    return [
        Case("gather_nd", "defaults", [normal(2, 3), exactly([[0, 1, 1], [2, 0, 1]])], grad=[0]),
        Case("gather_nd", "rows", [normal(3, 2), exactly([[2, 0]])], grad=[0]),
        Case("gather_nd", "of_3d", [normal(2, 3, 2), exactly(points)], grad=[0]),
        Case("gather_nd", "matrix_of_points", [normal(2, 3), exactly([[[0, 1]], [[2, 0]]])], grad=[0]),
        Case("gather_nd", "one_place_twice", [normal(2, 3), TWICE], grad=[0]),
        Case("gather_nd", "no_points", [normal(2, 3), normal(2, 0)], grad=[0]),
        Case("gather_nd", "from_vector", [normal(4), exactly([[3, 1, 3]])], grad=[0]),
        # The gradient of a negative index is written in front of the array.
        Case("gather_nd", "negative", [normal(2, 3), exactly([[-1, 0], [-1, -3]])], grad=[]),
        Case("gather_nd", "refused_too_many_rows", [normal(3), exactly([[0], [1]])], grad=[0]),
        *(Case("gather_nd", f"by_{t}", [normal(2, 3), exactly(points, t)], grad=[0]) for t in INDEX_DTYPES),
        *(
            Case("gather_nd", f"of_{t}", [integers(2, 3, low=0, dtype=t), exactly(points)], grad=[])
            for t in DTYPES
        ),
    ]


def _scattered() -> list[Case]:
    """Cases of scattered elements; two meet in one place only if they are added, as order is undefined."""
    places: dict[str, tuple[tuple[int, ...], Any, tuple[int, ...]]] = {
        "defaults": ((3,), [[1, 1, 0], [0, 1, 0]], (2, 2)),
        "rows": ((2, 3), [[2, 0]], (4, 3)),
        "to_vector": ((3,), [[3, 0, 1]], (5,)),
        "to_3d": ((2, 2), [[0, 1], [2, 0]], (2, 3, 2)),
        "matrix_of_points": ((1, 2), [[[0, 1]], [[1, 0]]], (2, 2)),
        "one_point": ((1,), [[1], [1]], (2, 3)),
    }
    cases = []
    for name, (values, points, shape) in places.items():
        to_shape = {"shape": shape}
        inputs = [normal(*values), exactly(points)]
        cases += [
            Case("scatter_nd", name, inputs, to_shape, grad=[0]),
            Case("_backward_gather_nd", name, inputs, to_shape, grad=[0]),
            # MXNet writes into the first argument, which has to be the result as well.
            Case("_scatter_set_nd", name, [normal(*shape), *inputs], to_shape, grad=[]),
        ]
    for t in DTYPES:
        added = f"refused_of_{t}" if t in ("int8", "uint8") else f"of_{t}"
        square = {"shape": (2, 2)}
        inputs = [integers(2, low=0, dtype=t), exactly([[1, 0], [0, 1]], "int32")]
        cases += [
            Case("scatter_nd", f"of_{t}", inputs, square, grad=[]),
            Case("_backward_gather_nd", added, inputs, square, grad=[]),
            Case("_scatter_set_nd", f"of_{t}", [integers(2, 2, low=0, dtype=t), *inputs], square, grad=[]),
        ]
    return [
        *cases,
        Case("_backward_gather_nd", "one_place_twice", [normal(3), TWICE], {"shape": (2, 3)}, grad=[0]),
        Case("scatter_nd", "refused_shapes_differ", [normal(2), TWICE], {"shape": (2, 3)}, grad=[0]),
    ]


def _embedding() -> list[Case]:
    table = {"input_dim": 4, "output_dim": 3}
    return [
        Case("Embedding", "defaults", [_index(2, below=4), normal(4, 3)], table, grad=[1]),
        Case("Embedding", "matrix", [_index(2, 3, below=4), normal(4, 3)], table, grad=[1]),
        Case("Embedding", "one_word_often", [exactly([[2, 2], [2, 2]]), normal(4, 3)], table, grad=[1]),
        Case("Embedding", "out_of_range_clips", [exactly([-1, 4, 9, 1]), normal(4, 3)], table, grad=[1]),
        Case("Embedding", "no_words", [normal(0), normal(4, 3)], table, grad=[1]),
        Case("Embedding", "fractions", [exactly([0.9, 2.5]), normal(4, 3)], table, grad=[1]),
        Case(
            "Embedding",
            "one_word",
            [exactly([0, 0]), normal(1, 1)],
            {"input_dim": 1, "output_dim": 1},
            grad=[1],
        ),
        *(
            Case("Embedding", f"by_{t}", [_index(3, below=4, dtype=t), normal(4, 3)], table, grad=[1])
            for t in INDEX_DTYPES
        ),
        *(
            Case(
                "Embedding", t, [_index(3, below=4), integers(4, 3, dtype=t)], {**table, "dtype": t}, grad=[1]
            )
            for t in ("float16", "float64")
        ),
        Case("Embedding", "refused_wrong_table", [_index(2, below=4), normal(4, 2)], table, grad=[1]),
    ]


def _where() -> list[Case]:
    condition = exactly([[1, 0], [0, -2]])
    return [
        Case("where", "defaults", [condition, normal(2, 2), normal(2, 2)], grad=[1, 2]),
        Case("where", "condition_chooses_rows", [exactly([0, 3]), normal(2, 3), normal(2, 3)], grad=[1, 2]),
        Case("where", "rows_of_3d", [exactly([1, 0]), normal(2, 2, 2), normal(2, 2, 2)], grad=[1, 2]),
        Case("where", "empty", [normal(0, 2), normal(0, 2), normal(0, 2)], grad=[1, 2]),
        Case("where", "vectors", [exactly([0, 1, 0]), normal(3), normal(3)], grad=[1, 2]),
        Case("where", "condition_of_one", [exactly([[0.5]]), normal(1, 1), normal(1, 1)], grad=[1, 2]),
        Case(
            "where", "condition_has_nan", [exactly([NAN, 0.0, -0.0, INF]), normal(4), normal(4)], grad=[1, 2]
        ),
        Case("where", "unchosen_nan", [condition, exactly([[1, NAN], [NAN, 2]]), normal(2, 2)], grad=[1, 2]),
        Case("where", "gradient_of_condition_is_zero", [condition, normal(2, 2), normal(2, 2)]),
        Case("where", "refused_broadcast", [condition, normal(2, 2), normal(1, 2)], grad=[1, 2]),
        *(
            Case("where", f"of_{t}", [condition, *[integers(2, 2, low=0, dtype=t)] * 2], grad=[])
            for t in DTYPES
        ),
        *(
            Case("where", f"by_{t}", [exactly([1, 0], t), normal(2), normal(2)], grad=[1, 2])
            for t in INDEX_DTYPES
        ),
    ]


CASES: list[Case] = [
    *_take(),
    *_batch_take(),
    *_pick(),
    *_one_hot(),
    *_gathered(),
    *_scattered(),
    *_embedding(),
    *_where(),
]
