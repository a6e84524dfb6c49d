"""Cases of Dropout. What training draws is random, so mostly shapes count."""

from __future__ import annotations

from tests.conformance.recorded.case import Case, exactly, normal

CASES: list[Case] = [
    Case("Dropout", "defaults", (normal(3, 4),), compare="shapes"),
    Case("Dropout", "predicts", (normal(3, 4),), is_train=False),
    Case("Dropout", "p_0", (normal(3, 4),), {"p": 0.0}),
    Case("Dropout", "p_0_always", (normal(3, 4),), {"p": 0.0, "mode": "always"}, is_train=False),
    Case("Dropout", "p_0_9", (normal(3, 4),), {"p": 0.9}, compare="shapes"),
    Case("Dropout", "p_1", (normal(3, 4),), {"p": 1.0}, compare="shapes"),
    Case("Dropout", "p_1_predicts", (normal(3, 4),), {"p": 1.0}, is_train=False),
    Case("Dropout", "always_predicts", (normal(3, 4),), {"mode": "always"}, compare="shapes", is_train=False),
    Case("Dropout", "training_predicts", (normal(3, 4),), {"mode": "training"}, is_train=False),
    Case("Dropout", "axes", (normal(3, 4, 2),), {"axes": (1, 2)}, compare="shapes"),
    Case("Dropout", "axes_predict", (normal(3, 4, 2),), {"axes": (0,)}, is_train=False),
    Case("Dropout", "axes_p_0", (normal(3, 4),), {"axes": (0,), "p": 0.0}),
    Case("Dropout", "all_axes", (normal(3, 4),), {"axes": (0, 1)}, compare="shapes"),
    Case("Dropout", "one_element", (normal(1),), compare="shapes"),
    Case("Dropout", "four_axes_predict", (normal(2, 1, 3, 2),), {"p": 0.3}, is_train=False),
    Case("Dropout", "float64", (normal(3, 4, dtype="float64"),), compare="shapes"),
    Case("Dropout", "float64_predicts", (normal(3, 4, dtype="float64"),), is_train=False),
    Case("Dropout", "float16_predicts", (normal(3, 4, dtype="float16"),), is_train=False),
    Case("Dropout", "zeros", (exactly([[0.0, -0.0], [0.0, 0.0]]),), compare="shapes"),
    Case("Dropout", "inf_and_nan_predicts", (exactly([float("inf"), float("nan")]),), is_train=False),
    Case("Dropout", "refused_p_above_1", (normal(3, 4),), {"p": 1.5}),
    Case("Dropout", "refused_negative_p", (normal(3, 4),), {"p": -0.1}),
]
