"""Operators on batches of sequences of unequal length, laid out as (time, batch, ...) unless `axis` is 1."""

from __future__ import annotations

from typing import Any

from tests.conformance.recorded.case import Case, Recipe, exactly, integers, normal

NAN, INF = float("nan"), float("inf")
DTYPES = ("float64", "float16", "int8", "uint8", "int32", "int64")
LENGTH_DTYPES = ("float16", "float64", "int32", "int64", "uint8")
LENGTHS = exactly([2, 1, 4])
WITH_LENGTHS = {"use_sequence_length": True}


def _common(op: str) -> list[Case]:
    """Cases that the three operators share; the lengths get no gradient."""

    def case(name: str, data: Recipe, lengths: Recipe | None = None, **params: Any) -> Case:
        if lengths is not None:
            return Case(op, name, [data, lengths], {**WITH_LENGTHS, **params}, grad=[0])
        # MXNet's gradient of SequenceLast reads lengths that are not there, and ends the process.
        return Case(op, name, [data], params, grad=[] if op == "SequenceLast" else [0])

    # Reversal knows one layout alone.
    layouts = (
        []
        if op == "SequenceReverse"
        else [
            case("batch_first", normal(3, 4, 2), LENGTHS, axis=1),
            case("batch_first_without_lengths", normal(2, 3, 2), axis=1),
            case("batch_first_matrix", normal(3, 4), LENGTHS, axis=1),
        ]
    )
    return [
        case("without_lengths", normal(4, 3, 2)),
        case("with_lengths", normal(4, 3, 2), LENGTHS),
        case("full_length", normal(3, 2, 2), exactly([3, 3])),
        case("length_of_one", normal(3, 2, 2), exactly([1, 1])),
        case("one_step", normal(1, 2, 2), exactly([1, 1])),
        case("one_sequence", normal(4, 1, 2), exactly([3])),
        case("one_feature", normal(4, 3, 1), LENGTHS),
        case("4d", normal(4, 3, 2, 2), LENGTHS),
        case("5d", normal(3, 2, 1, 2, 1), exactly([2, 3])),
        case("matrix", normal(4, 3), LENGTHS),
        *layouts,
        case("length_of_fractions", normal(4, 3, 2), exactly([2.9, 1.5, 3.2])),
        case("nan_and_inf", exactly([[[1.0]], [[NAN]], [[INF]], [[2.0]]]), exactly([2])),
        *(
            Case(op, f"of_{t}", [integers(4, 3, 2, low=0, dtype=t), LENGTHS], WITH_LENGTHS, grad=[])
            for t in DTYPES
        ),
        *(
            Case(op, f"lengths_of_{t}", [normal(4, 3, 2), exactly([2, 1, 4], t)], WITH_LENGTHS, grad=[0])
            for t in LENGTH_DTYPES
        ),
        Case(op, "gradient_of_lengths", [normal(4, 3, 2), LENGTHS], WITH_LENGTHS),
        Case(op, "refused_wrong_count", [normal(4, 3, 2), exactly([1, 2])], WITH_LENGTHS, grad=[0]),
        Case(op, "refused_vector", [normal(4)], grad=[0]),
        Case(op, "refused_axis_2", [normal(2, 2, 2)], {"axis": 2}, grad=[0]),
    ]


def _particular() -> list[Case]:
    """Values that fill the mask, and lengths and layouts that one of the three takes."""
    values = {"fraction": 2.5, "negative": -1.0, "nan": NAN, "inf": INF, "large": 1e30}
    op = "SequenceMask"
    return [
        *(
            Case(op, f"value_{name}", [normal(4, 3, 1), LENGTHS], {**WITH_LENGTHS, "value": value}, grad=[0])
            for name, value in values.items()
        ),
        Case(op, "value_without_lengths", [normal(2, 2, 1)], {"value": 3.0}),
        Case(op, "length_of_zero", [normal(3, 2, 1), exactly([0, 2])], WITH_LENGTHS, grad=[0]),
        Case(op, "length_beyond_end", [normal(3, 2, 1), exactly([9, 2])], WITH_LENGTHS, grad=[0]),
        Case("SequenceReverse", "refused_axis_1", [normal(3, 4, 2)], {"axis": 1}, grad=[0]),
    ]


CASES: list[Case] = [
    *_common("SequenceMask"),
    *_common("SequenceLast"),
    *_common("SequenceReverse"),
    *_particular(),
]
