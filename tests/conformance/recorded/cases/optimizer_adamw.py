"""Cases of Adam with decoupled weight decay. The scale of the gradient is an input of one element."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.conformance.recorded.case import Case, Recipe, exactly, normal, uniform

Shape = tuple[int, ...]

VARIANTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("defaults", {}),
    ("wd", {"wd": 0.05}),
    ("eta", {"eta": 0.5, "wd": 0.1}),
    ("betas", {"beta1": 0.5, "beta2": 0.9}),
    ("epsilon", {"epsilon": 0.1}),
    ("clips", {"clip_gradient": 0.5}),
    ("lr_zero", {"lr": 0.0, "wd": 0.1}),
)

RTOL = {"float64": 1e-5, "float16": 5e-3}  # MXNet holds parameters in float32

# A step whose scale is not a positive finite number is skipped.
SCALES = (
    ("scale", 0.5),
    ("scale_zero_skips", 0.0),
    ("scale_nan_skips", float("nan")),
    ("scale_inf_skips", float("inf")),
    ("negative_scale", -1.0),
)


def tensor(shape: Shape, dtype: str, *, master: bool) -> list[Recipe]:
    """Weight, gradient, mean, variance and perhaps the master copy."""
    kept = "float32" if master else dtype
    return [
        normal(*shape, dtype=dtype),
        normal(*shape, dtype=dtype),
        normal(*shape, dtype=kept),
        uniform(*shape, low=0.1, dtype=kept),
        *([normal(*shape)] if master else []),
    ]


def single(op: str) -> Iterator[Case]:
    """One tensor."""
    master = "_mp_" in op
    fixed = {"lr": 0.1, "eta": 1.0}
    one = exactly([1.0])
    for name, params in VARIANTS:
        yield Case(op, name, (*tensor((3, 4), "float32", master=master), one), {**fixed, **params}, grad=())
    for name, scale in SCALES:
        inputs = (*tensor((3, 2), "float32", master=master), exactly([scale]))
        yield Case(op, name, inputs, {**fixed, "wd": 0.1}, grad=())
    for shape in ((1,), (2, 1, 3)):
        label = f"axes_{len(shape)}"
        yield Case(op, label, (*tensor(shape, "float32", master=master), one), fixed, grad=())
    for dtype in ("float16",) if master else ("float16", "float64"):
        inputs = (*tensor((3, 4), dtype, master=master), exactly([0.5]))
        yield Case(op, dtype, inputs, {**fixed, "wd": 0.1}, grad=(), rtol=RTOL[dtype])


def several(op: str) -> Iterator[Case]:
    """One to three tensors, each with rates of its own."""
    master = "_mp_" in op
    shapes = ((3, 4), (2,), (1, 1, 3))
    variants: list[tuple[str, int, float, dict[str, Any]]] = [
        ("defaults", 1, 1.0, {}),
        ("two_tensors", 2, 1.0, {}),
        ("three_tensors", 3, 1.0, {}),
        ("betas", 2, 1.0, {"beta1": 0.5, "beta2": 0.9}),
        ("epsilon", 2, 1.0, {"epsilon": 0.1}),
        ("clips", 2, 1.0, {"clip_gradient": 0.5}),
        ("scale", 2, 0.5, {}),
        ("scale_zero_skips", 2, 0.0, {}),
        ("scale_nan_skips", 1, float("nan"), {}),
    ]
    for dtype in ("float32", "float16" if master else "float64"):
        for name, count, scale, params in variants:
            inputs = [recipe for shape in shapes[:count] for recipe in tensor(shape, dtype, master=master)]
            rates = {
                "lrs": (0.1, 0.2, 0.05)[:count],
                "wds": (0.0, 0.1, 0.5)[:count],
                "etas": (1.0, 0.5, 2.0)[:count],
            }
            label = name if dtype == "float32" else f"{dtype}_{name}"
            params = {**rates, "num_weights": count, **params}
            yield Case(
                op, label, (*inputs, exactly([scale], "float32" if master else dtype)), params, grad=()
            )


CASES: list[Case] = [
    *(case for op in ("_adamw_update", "_mp_adamw_update") for case in single(op)),
    *(case for op in ("_multi_adamw_update", "_multi_mp_adamw_update") for case in several(op)),
]
