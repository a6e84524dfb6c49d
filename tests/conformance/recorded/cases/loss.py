"""Cases of the loss operators. Their gradients ignore the head's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.conformance.recorded.case import Case, Recipe, exactly, normal, uniform

LABELS = exactly([1.0, 0.0, 3.0])
IMAGE_LABELS = exactly([[0.0, 2.0], [1.0, -1.0]])
WITH_IGNORED = exactly([1.0, -1.0, 3.0])
NORMALIZATIONS = ("null", "batch", "valid")


def softmax_output(name: str, data: Recipe, label: Recipe, **params: Any) -> Case:
    """Case of SoftmaxOutput, in which only data gets a gradient."""
    return Case("SoftmaxOutput", name, (data, label), params, grad=(0,))


def softmax_outputs() -> Iterator[Case]:
    """One label per sample, per position, or a distribution; all ways of scaling the gradient."""
    data = normal(3, 4)
    yield softmax_output("defaults", data, LABELS)
    yield softmax_output("grad_scale", data, LABELS, grad_scale=2.5)
    yield softmax_output("out_grad", data, LABELS, out_grad=True)
    yield softmax_output("smooth_alpha", data, LABELS, smooth_alpha=0.1)
    yield softmax_output("smooth_alpha_and_ignore", data, WITH_IGNORED, smooth_alpha=0.1, use_ignore=True)
    yield softmax_output("refused_labels_as_columns", data, exactly([[1.0], [0.0], [3.0]]))
    yield softmax_output("label_distribution", data, uniform(3, 4, low=0.0))
    yield softmax_output("label_distribution_scaled", data, uniform(3, 4, low=0.0), grad_scale=0.5)
    yield Case("SoftmaxOutput", "predicts", (data, LABELS), grad=(0,), is_train=False)
    yield softmax_output("three_axes", normal(2, 2, 3), exactly([[1.0, 0.0], [2.0, 1.0]]))
    yield softmax_output(
        "preserve_shape", normal(2, 2, 3), exactly([[0.0, 2.0], [1.0, 1.0]]), preserve_shape=True
    )
    yield softmax_output(
        "preserve_shape_ignore",
        normal(2, 2, 3),
        IMAGE_LABELS,
        preserve_shape=True,
        use_ignore=True,
        normalization="valid",
    )
    for normalization in NORMALIZATIONS:
        yield softmax_output(f"normalization_{normalization}", data, LABELS, normalization=normalization)
        params: dict[str, Any] = {"normalization": normalization, "use_ignore": True}
        yield softmax_output(f"ignores_{normalization}", data, WITH_IGNORED, **params)
        yield softmax_output(
            f"ignores_three_{normalization}", data, LABELS, **params, ignore_label=3.0, grad_scale=0.5
        )
        multi: dict[str, Any] = {"multi_output": True, "normalization": normalization}
        images = exactly([[0.0, 2.0], [1.0, 1.0]])
        yield softmax_output(f"multi_output_{normalization}", normal(2, 3, 2), images, **multi)
        yield softmax_output(
            f"multi_output_ignores_{normalization}", normal(2, 3, 2), IMAGE_LABELS, **multi, use_ignore=True
        )
        yield softmax_output(f"all_ignored_zero_{normalization}", data, exactly([-1.0] * 3), **params)
    square = exactly([[[0.0, 1.0], [2.0, 1.0]]])
    yield softmax_output("multi_output_image", normal(1, 3, 2, 2), square, multi_output=True)
    yield softmax_output(
        "multi_output_flat_labels", normal(1, 3, 2, 2), exactly([[0.0, 1.0, 2.0, 1.0]]), multi_output=True
    )
    yield softmax_output(
        "multi_output_smooth_alpha",
        normal(1, 3, 4),
        exactly([[0.0, 1.0, 2.0, 1.0]]),
        multi_output=True,
        smooth_alpha=0.2,
    )
    yield softmax_output("one_sample", normal(1, 4), exactly([2.0]))
    yield softmax_output("one_class", normal(3, 1), exactly([0.0, 0.0, 0.0]))
    yield softmax_output("large", exactly([[1000.0, -1000.0, 999.0]]), exactly([1.0]))
    yield softmax_output("labels_out_of_range", data, exactly([7.0, 0.0, 3.0]))
    yield softmax_output("fractional_labels", data, exactly([1.9, 0.2, 2.5]))
    yield softmax_output("nan", exactly([[float("nan"), 1.0], [0.0, 1.0]]), exactly([1.0, 0.0]))
    for dtype in ("float64", "float16"):
        yield softmax_output(dtype, normal(3, 4, dtype=dtype), exactly([1.0, 0.0, 3.0], dtype))
        yield softmax_output(
            f"{dtype}_ignores",
            normal(3, 4, dtype=dtype),
            exactly([1.0, -1.0, 3.0], dtype),
            use_ignore=True,
            normalization="valid",
        )
    yield softmax_output("refused_labels_of_another_batch", data, exactly([1.0, 0.0]))


def regressions(op: str) -> Iterator[Case]:
    """The gradient is divided by the number of outputs per sample."""
    double = "float64"
    cases: list[tuple[str, Recipe, Recipe, dict[str, Any]]] = [
        ("defaults", normal(3, 4), normal(3, 4), {}),
        ("grad_scale", normal(3, 4), normal(3, 4), {"grad_scale": 2.5}),
        ("negative_grad_scale", normal(3, 4), normal(3, 4), {"grad_scale": -1.0}),
        ("one_axis", normal(4), normal(4), {}),
        ("column_and_flat_label", normal(4, 1), normal(4), {}),
        ("three_axes", normal(2, 3, 2), normal(2, 3, 2), {}),
        ("one_value", normal(1, 1), normal(1, 1), {}),
        ("equal_values", exactly([[1.0, -2.0]]), exactly([[1.0, -2.0]]), {}),
        ("large", exactly([[100.0, -100.0, 1e30]]), exactly([[1.0, 0.0, 0.5]]), {}),
        (
            "inf_and_nan",
            exactly([[float("inf"), float("nan"), -float("inf")]]),
            exactly([[1.0, 0.0, 1.0]]),
            {},
        ),
        ("float64", normal(3, 4, dtype=double), normal(3, 4, dtype=double), {}),
        ("float16", normal(3, 4, dtype="float16"), normal(3, 4, dtype="float16"), {"grad_scale": 0.5}),
        ("refused_label_of_another_size", normal(3, 4), normal(3, 3), {}),
    ]
    for name, data, label, params in cases:
        yield Case(op, name, (data, label), params, grad=(0,))


def svm_outputs() -> Iterator[Case]:
    """Hinge losses, linear and squared."""
    for use_linear in (False, True):
        word = "linear" if use_linear else "squared"
        flag = {"use_linear": use_linear}
        cases: list[tuple[str, Recipe, Recipe, dict[str, Any]]] = [
            ("plain", normal(3, 4), LABELS, {}),
            ("margin", normal(3, 4), LABELS, {"margin": 0.3}),
            ("wide_margin", normal(3, 4), LABELS, {"margin": 5.0}),
            ("regularization", normal(3, 4), LABELS, {"regularization_coefficient": 0.5}),
            (
                "margin_and_regularization",
                normal(3, 4),
                LABELS,
                {"margin": 2.0, "regularization_coefficient": 3.0},
            ),
            ("one_sample", normal(1, 3), exactly([2.0]), {}),
            ("one_class", normal(3, 1), exactly([0.0, 0.0, 0.0]), {}),
            ("at_the_margin", exactly([[1.0, -1.0, 0.0]]), exactly([0.0]), {}),
            ("float64", normal(3, 4, dtype="float64"), exactly([1.0, 0.0, 3.0], "float64"), {}),
        ]
        for name, data, label, params in cases:
            yield Case("SVMOutput", f"{word}_{name}", (data, label), {**flag, **params}, grad=(0,))
    yield Case("SVMOutput", "defaults", (normal(3, 4), LABELS), grad=(0,))


def make_losses() -> Iterator[Case]:
    """The gradient is a number, whatever the data."""
    for normalization in NORMALIZATIONS:
        scale = {"normalization": normalization}
        yield Case("MakeLoss", f"normalization_{normalization}", (normal(3, 4),), scale)
        yield Case("MakeLoss", f"{normalization}_grad_scale", (normal(3, 4),), {**scale, "grad_scale": 0.5})
        yield Case(
            "MakeLoss", f"{normalization}_valid_thresh", (normal(3, 4),), {**scale, "valid_thresh": 0.5}
        )
        yield Case("MakeLoss", f"{normalization}_one_axis", (normal(4),), scale)
        yield Case("MakeLoss", f"{normalization}_three_axes", (normal(2, 3, 2),), scale)
        yield Case("MakeLoss", f"{normalization}_none_valid", (uniform(2, 2, low=-2.0, high=-1.0),), scale)
    yield Case("MakeLoss", "defaults", (normal(3, 4),))
    yield Case("MakeLoss", "one_value", (normal(1),))
    yield Case("MakeLoss", "float64", (normal(3, 4, dtype="float64"),), {"grad_scale": 3.0})
    yield Case("MakeLoss", "float16", (normal(3, 4, dtype="float16"),))
    yield Case(
        "MakeLoss", "inf_and_nan", (exactly([float("inf"), float("nan")]),), {"normalization": "valid"}
    )


def cross_entropies() -> Iterator[Case]:
    """The sum over a batch."""
    double = (normal(3, 4, dtype="float64"), exactly([1.0, 0.0, 3.0], "float64"))
    cases: list[tuple[str, tuple[Recipe, Recipe]]] = [
        ("defaults", (normal(3, 4), LABELS)),
        ("one_sample", (normal(1, 4), exactly([2.0]))),
        ("one_class", (normal(3, 1), exactly([0.0, 0.0, 0.0]))),
        ("large", (exactly([[30.0, -30.0], [5.0, 8.0]]), exactly([0.0, 1.0]))),
        ("probability_zero", (exactly([[1000.0, -1000.0]]), exactly([1.0]))),
        ("labels_of_a_certain_class", (exactly([[1000.0, -1000.0]]), exactly([0.0]))),
        ("float64", double),
        ("nan", (exactly([[float("nan"), 1.0], [0.0, 1.0]]), exactly([1.0, 0.0]))),
        ("refused_three_axes", (normal(2, 3, 2), exactly([1.0, 0.0]))),
        ("refused_labels_of_another_batch", (normal(3, 4), exactly([1.0, 0.0]))),
    ]
    for name, inputs in cases:
        yield Case("softmax_cross_entropy", name, inputs, grad=(0,))


CASES: list[Case] = [
    *softmax_outputs(),
    *(
        case
        for op in ("LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput")
        for case in regressions(op)
    ),
    *svm_outputs(),
    *make_losses(),
    *cross_entropies(),
]
