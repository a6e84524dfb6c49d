"""Cases of FullyConnected."""

from __future__ import annotations

from typing import Any

from tests.conformance.recorded.case import Case, exactly, integers, normal


def fully_connected(
    name: str, data: tuple[int, ...], features: int, num_hidden: int, *, dtype: str = "float32", **params: Any
) -> Case:
    """A product with a weight of (num_hidden, features), and a bias unless `no_bias`."""
    inputs = [normal(*data, dtype=dtype), normal(num_hidden, features, dtype=dtype)]
    if not params.get("no_bias", False):
        inputs.append(normal(num_hidden, dtype=dtype))
    return Case("FullyConnected", name, inputs, {"num_hidden": num_hidden, **params})


CASES: list[Case] = [
    fully_connected("defaults", (3, 4), 4, 5),
    fully_connected("no_bias", (3, 4), 4, 5, no_bias=True),
    fully_connected("flattens_three_axes", (2, 3, 4), 12, 5),
    fully_connected("flattens_four_axes", (2, 2, 3, 2), 12, 3, no_bias=True),
    fully_connected("keeps_leading_axes", (2, 3, 4), 4, 5, flatten=False),
    fully_connected("keeps_leading_axes_no_bias", (2, 3, 2, 4), 4, 3, flatten=False, no_bias=True),
    fully_connected("two_axes_unflattened", (3, 4), 4, 5, flatten=False),
    fully_connected("one_axis_unflattened", (4,), 4, 3, flatten=False),
    fully_connected("one_axis_flattened", (4,), 1, 3),
    fully_connected("one_hidden_unit", (3, 4), 4, 1),
    fully_connected("one_feature", (3, 1), 1, 2),
    fully_connected("one_sample", (1, 4), 4, 2),
    fully_connected("all_axes_one", (1, 1), 1, 1),
    fully_connected("long_sum", (2, 70), 70, 3),
    fully_connected("float64", (3, 4), 4, 5, dtype="float64"),
    fully_connected("float64_unflattened", (2, 3, 4), 4, 5, dtype="float64", flatten=False),
    fully_connected("refused_float16", (3, 4), 4, 5, dtype="float16"),
    Case(
        "FullyConnected",
        "refused_int32",
        (integers(2, 3, dtype="int32"), integers(4, 3, dtype="int32"), integers(4, dtype="int32")),
        {"num_hidden": 4},
    ),
    Case(
        "FullyConnected",
        "inf_and_nan",
        (
            exactly([[float("inf"), 1.0], [float("nan"), 1.0], [2.0, 3.0]]),
            exactly([[1.0, -1.0], [-2.0, 0.5]]),
            normal(2),
        ),
        {"num_hidden": 2},
    ),
    Case(
        "FullyConnected",
        "gradient_of_the_weight_only",
        (normal(3, 4), normal(2, 4), normal(2)),
        {"num_hidden": 2},
        grad=(1,),
    ),
    fully_connected("refused_features_that_differ", (3, 4), 5, 2),
]
