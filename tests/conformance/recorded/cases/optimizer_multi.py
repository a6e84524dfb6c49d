"""Cases of updates of several tensors at once, and of what goes with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tests.conformance.recorded.case import Case, Recipe, exactly, normal, uniform

Shape = tuple[int, ...]
SHAPES: tuple[Shape, ...] = ((3, 4), (2,), (1, 1, 3))
LRS = (0.1, 0.2, 0.05)
WDS = (0.0, 0.1, 0.5)
RTOL = {"float64": 1e-5, "float16": 2e-3}  # MXNet holds parameters in float32
BIAS_CORRECTION_RTOL = 2e-4  # 1 - beta2 cancels in float32


def tensors(shapes: Sequence[Shape], dtype: str, *, momentum: bool, master: bool) -> Iterator[Recipe]:
    """Weight, gradient, momentum and master copy, one tensor after another."""
    for shape in shapes:
        yield normal(*shape, dtype=dtype)
        yield normal(*shape, dtype=dtype)
        if momentum:
            yield normal(*shape, dtype="float32" if master else dtype)
        if master:
            yield normal(*shape)


def multi_sgd(op: str) -> Iterator[Case]:
    """Updates whose learning rates and weight decays are parameters, or last inputs (`preloaded_`)."""
    momentum, master = "mom" in op, "_mp_" in op
    variants: list[tuple[str, int, str, dict[str, Any]]] = [
        ("defaults", 1, "float32", {}),
        ("two_tensors", 2, "float32", {}),
        ("three_tensors", 3, "float32", {}),
        ("rescale_grad", 2, "float32", {"rescale_grad": 0.25}),
        ("clips", 2, "float32", {"clip_gradient": 0.5}),
        ("rescales_and_clips", 3, "float32", {"rescale_grad": 3.0, "clip_gradient": 1.0}),
        ("clip_of_zero", 1, "float32", {"clip_gradient": 0.0}),
        ("float16", 2, "float16", {"rescale_grad": 0.5}),
    ]
    if momentum:
        variants.append(("momentum", 3, "float32", {"momentum": 0.9}))
        variants.append(("momentum_clipped", 2, "float32", {"momentum": 0.5, "clip_gradient": 0.3}))
    if not master:
        variants.append(("float64", 2, "float64", {}))
    for name, count, dtype, params in variants:
        inputs = list(tensors(SHAPES[:count], dtype, momentum=momentum, master=master))
        rates: dict[str, Any] = {}
        if op.startswith("preloaded"):
            inputs += [exactly(LRS[:count]), exactly(WDS[:count])]
        else:
            rates = {"lrs": LRS[:count], "wds": WDS[:count]}
        yield Case(op, name, inputs, {**rates, "num_weights": count, **params}, grad=(), rtol=RTOL.get(dtype))


def multi_lamb(op: str) -> Iterator[Case]:
    """Both phases, with the norms computed inside."""
    master = "_mp_" in op
    variants: list[tuple[str, int, dict[str, Any]]] = [
        ("defaults", 1, {}),
        ("two_tensors", 2, {}),
        ("three_tensors", 3, {}),
        ("betas", 2, {"beta1": 0.5, "beta2": 0.9}),
        ("epsilon", 1, {"epsilon": 0.1}),
        ("rescale_grad", 2, {"rescale_grad": 0.25}),
        ("clips", 2, {"clip_gradient": 0.5}),
        ("bounds", 2, {"lower_bound": 0.5, "upper_bound": 1.0}),
        ("lower_bound", 1, {"lower_bound": 2.0}),
        ("no_bias_correction", 2, {"bias_correction": False}),
    ]
    for dtype in ("float32", "float16" if master else "float64"):
        for name, count, params in variants:
            inputs: list[Recipe] = []
            for shape in SHAPES[:count]:
                kept = "float32" if master else dtype
                inputs += [normal(*shape, dtype=dtype), normal(*shape, dtype=dtype)]
                inputs += [normal(*shape, dtype=kept), uniform(*shape, low=0.1, dtype=kept)]
                inputs += [normal(*shape)] if master else []
            fixed = {"learning_rates": LRS[:count], "wds": WDS[:count], "step_count": (1, 2, 10)[:count]}
            label = name if dtype == "float32" else f"{dtype}_{name}"
            yield Case(
                op,
                label,
                inputs,
                {**fixed, "num_tensors": count, **params},
                grad=(),
                rtol=max(RTOL.get(dtype, 0.0), BIAS_CORRECTION_RTOL),
            )


def sums_of_squares() -> Iterator[Case]:
    """One number per tensor, always float32."""
    for count in (1, 2, 3):
        recipes = [normal(*shape) for shape in SHAPES[:count]]
        yield Case("multi_sum_sq", f"tensors_{count}", recipes, {"num_arrays": count}, grad=())
    for dtype in ("float64", "float16"):
        recipes = [normal(*shape, dtype=dtype) for shape in SHAPES[:2]]
        yield Case("multi_sum_sq", dtype, recipes, {"num_arrays": 2}, grad=())
    yield Case("multi_sum_sq", "zeros", [exactly([0.0, -0.0])], {"num_arrays": 1}, grad=())
    yield Case("multi_sum_sq", "one_element", [exactly([-3.0])], {"num_arrays": 1}, grad=())
    special = [exactly([1.0, float("inf")]), exactly([float("nan"), 1.0])]
    yield Case("multi_sum_sq", "inf_and_nan", special, {"num_arrays": 2}, grad=())


def layerwise_rates() -> Iterator[Case]:
    """A rate per layer, from sums of squares of weights and gradients."""
    layers = (
        exactly([0.1, 0.2, 0.3]),
        exactly([4.0, 0.0, 9.0]),
        exactly([1.0, 2.0, 0.0]),
        exactly([0.0, 0.1, 0.2]),
    )
    variants: list[tuple[str, dict[str, Any]]] = [
        ("defaults", {}),
        ("eta", {"eta": 0.5}),
        ("eps", {"eps": 0.1}),
        ("eps_zero", {"eps": 0.0}),
        ("rescale_grad", {"rescale_grad": 0.25}),
    ]
    for name, params in variants:
        yield Case("multi_lars", name, layers, {"eta": 0.001, "eps": 1e-8, **params}, grad=())
    one = (exactly([0.1]), exactly([4.0]), exactly([2.0]), exactly([0.01]))
    yield Case("multi_lars", "one_layer", one, {"eta": 0.001, "eps": 1e-8}, grad=())


SGD_FORMS = tuple(
    f"{loaded}multi_{precision}sgd_{momentum}update"
    for loaded in ("", "preloaded_")
    for precision in ("", "mp_")
    for momentum in ("", "mom_")
)


def finiteness() -> Iterator[Case]:
    """Checks of gradients: 1 where all elements are finite, else 0."""
    rows: list[tuple[str, list[Any]]] = [
        ("finite", [1.0, -3e38, 0.0]),
        ("nan", [1.0, float("nan")]),
        ("inf", [float("inf"), 0.0]),
        ("minus_inf", [-float("inf")]),
    ]
    for name, values in rows:
        yield Case("all_finite", name, (exactly(values),), grad=())
        pair = (normal(2, 3), exactly(values))
        yield Case("multi_all_finite", f"second_{name}", pair, {"num_arrays": 2}, grad=())
    for dtype in ("float64", "float16"):
        yield Case("all_finite", dtype, (normal(2, 3, dtype=dtype),), grad=())
        pair = (normal(2, 3, dtype=dtype), normal(2, dtype=dtype))
        yield Case("multi_all_finite", dtype, pair, {"num_arrays": 2}, grad=())
    yield Case("all_finite", "too_large_for_float16_inf", (exactly([70000.0], "float16"),), grad=())
    yield Case("multi_all_finite", "one_array", (normal(2, 3),), {"num_arrays": 1}, grad=())


CASES: list[Case] = [
    *(case for op in SGD_FORMS for case in multi_sgd(op)),
    *(case for op in ("_multi_lamb_update", "_multi_mp_lamb_update") for case in multi_lamb(op)),
    *sums_of_squares(),
    *layerwise_rates(),
    *finiteness(),
]
