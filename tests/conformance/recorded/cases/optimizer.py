"""Cases of updates of one tensor. What they keep between steps are inputs, and change in place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.conformance.recorded.case import Case, Recipe, exactly, normal, uniform

Shape = tuple[int, ...]
Variants = dict[str, dict[str, Any]]
SHAPE: Shape = (3, 4)

# MXNet holds parameters in float32, and intermediate values in the type of the weight.
RTOL = {"float64": 2e-5, "float16": 2e-2}
ATOL = {"float16": 5e-3}
BIAS_CORRECTION_RTOL = 2e-4  # 1 - beta2 cancels in float32


@dataclass(frozen=True)
class Update:
    """An operator that takes a weight, its gradient, and states.

    Attributes:
        op: Its name.
        states: Of each state, the bounds it is drawn from.
        params: What every call needs.
        variants: Parameters beyond these, by the name of a case.
        clip: How the bound of the gradient is called.
        has_master: Whether the last state is the weight in float32 (the `mp_` forms).
        dtype: Of weight and gradient, where a case does not say otherwise.
        rtol: Relative tolerance in float32, where the default is too strict.
    """

    op: str
    states: tuple[tuple[float, float], ...] = ()
    params: Mapping[str, Any] = field(default_factory=lambda: {"lr": 0.1})
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    clip: str = "clip_gradient"
    has_master: bool = False
    dtype: str = "float32"
    rtol: float | None = None

    def case(self, name: str, shape: Shape = SHAPE, dtype: str | None = None, **params: Any) -> Case:
        """A weight and a gradient in `dtype`; with a master copy, states in float32."""
        dtype = dtype or self.dtype
        state_dtype = "float32" if self.has_master else dtype
        inputs: list[Recipe] = [normal(*shape, dtype=dtype), normal(*shape, dtype=dtype)]
        inputs += [uniform(*shape, low=low, high=high, dtype=state_dtype) for low, high in self.states]
        if self.has_master:
            inputs.append(normal(*shape))
        params = {**self.params, **params}
        rtol, atol = RTOL.get(state_dtype, self.rtol), ATOL.get(state_dtype)
        return Case(self.op, name, inputs, params, grad=(), rtol=rtol, atol=atol)

    def clipped(self, bound: float) -> dict[str, Any]:
        """The parameter that bounds the gradient."""
        return {self.clip: bound}

    def cases(self) -> Iterator[Case]:
        """Cases that all updates have, then the operator's own variants."""
        yield self.case("defaults")
        yield self.case("rescale_grad", rescale_grad=0.25)
        yield self.case("clips", **self.clipped(0.5))
        yield self.case("clips_after_rescaling", rescale_grad=3.0, **self.clipped(1.0))
        yield self.case("clip_of_zero", **self.clipped(0.0))
        for label, shape in (("one_element", (1,)), ("one_axis", (5,)), ("four_axes", (2, 1, 3, 2))):
            yield self.case(label, shape)
        if "wd" in self.params:
            yield self.case("no_wd", wd=0.0)
        else:
            yield self.case("wd", wd=0.05)
            yield self.case("wd_rescaled_and_clipped", wd=0.05, rescale_grad=2.0, **self.clipped(1.0))
            yield self.case("large_wd_and_clip", wd=3.0, **self.clipped(0.1))
        if "lr" in self.params:
            yield self.case("lr_zero", lr=0.0)
            yield self.case("lr_one", lr=1.0)
        for name, params in self.variants.items():
            yield self.case(name, **params)
        if self.dtype == "float16":
            yield self.case("refused_float32", dtype="float32")
        elif self.has_master:
            yield self.case("float16", dtype="float16")
            yield self.case(
                "float16_rescaled_and_clipped", dtype="float16", rescale_grad=2.0, **self.clipped(1.0)
            )
        else:
            yield self.case("float64", dtype="float64")
            yield self.case("float16", dtype="float16")


SIGNED = (-1.0, 1.0)
SQUARES = (0.1, 1.0)
LAZY: Variants = {"not_lazy": {"lazy_update": False}, "lazy": {"lazy_update": True, "wd": 0.1}}
MOMENTUM: Variants = {
    "momentum": {"momentum": 0.9},
    "momentum_wd": {"momentum": 0.9, "wd": 0.05},
    "momentum_wd_clipped": {"momentum": 0.9, "wd": 0.05, "rescale_grad": 0.5, "clip_gradient": 0.3},
    "momentum_one": {"momentum": 1.0},
}
ADAM: Variants = {
    "betas": {"beta1": 0.5, "beta2": 0.9},
    "betas_zero": {"beta1": 0.0, "beta2": 0.0},
    "epsilon": {"epsilon": 0.1},
}
RMSPROP: Variants = {
    "gamma1": {"gamma1": 0.5},
    "epsilon": {"epsilon": 0.1},
    "clips_weights": {"clip_weights": 0.3},
    "clips_both": {"clip_weights": 0.5, "clip_gradient": 0.5, "wd": 0.1},
}
LAMB: Variants = {
    **ADAM,
    "no_bias_correction": {"bias_correction": False},
    "late": {"t": 100},
    "late_wd": {"t": 7, "wd": 0.5},
}

UPDATES = (
    Update("sgd_update", variants=LAZY),
    Update("sgd_mom_update", (SIGNED,), variants={**LAZY, **MOMENTUM}),
    Update("nag_mom_update", (SIGNED,), variants=MOMENTUM),
    Update("mp_sgd_update", variants=LAZY, has_master=True),
    Update("mp_sgd_mom_update", (SIGNED,), variants={**LAZY, **MOMENTUM}, has_master=True),
    Update("mp_nag_mom_update", (SIGNED,), variants=MOMENTUM, has_master=True),
    Update("adam_update", (SIGNED, SQUARES), variants={**LAZY, **ADAM}),
    Update("rmsprop_update", (SQUARES,), variants=RMSPROP),
    Update(
        "rmspropalex_update",
        ((0.5, 1.0), (-0.5, 0.5), SIGNED),
        variants={**RMSPROP, "gamma2": {"gamma2": 0.5}},
    ),
    Update(
        "ftrl_update",
        (SIGNED, SQUARES),
        variants={
            "lamda1": {"lamda1": 0.5},
            "lamda1_zero": {"lamda1": 0.0},
            "beta": {"beta": 0.1},
            "beta_zero": {"beta": 0.0, "wd": 0.1},
        },
    ),
    Update(
        "ftml_update",
        (SQUARES, SQUARES, SIGNED),
        params={"lr": 0.1, "t": 1},
        variants={**ADAM, "late": {"t": 50}, "late_wd": {"t": 3, "wd": 0.5}},
        clip="clip_grad",
        rtol=BIAS_CORRECTION_RTOL,
    ),
    Update("signsgd_update"),
    Update(
        "signum_update",
        (SIGNED,),
        variants={
            **MOMENTUM,
            "wd_lh": {"wd_lh": 0.1},
            "wd_lh_and_wd": {"wd_lh": 0.1, "wd": 0.1, "momentum": 0.5},
        },
    ),
    Update(
        "lamb_update_phase1",
        (SIGNED, SQUARES),
        params={"t": 1, "wd": 0.05},
        variants=LAMB,
        rtol=BIAS_CORRECTION_RTOL,
    ),
    Update(
        "mp_lamb_update_phase1",
        (SIGNED, SQUARES),
        params={"t": 1, "wd": 0.05},
        variants=LAMB,
        has_master=True,
        dtype="float16",
        rtol=BIAS_CORRECTION_RTOL,
    ),
)


def lamb_second_phases() -> Iterator[Case]:
    """The step is scaled by the ratio of two norms, each an input of one element."""
    ratios: list[tuple[str, float, float, dict[str, Any]]] = [
        ("defaults", 2.0, 0.5, {}),
        ("weight_norm_zero", 0.0, 0.5, {}),
        ("step_norm_zero", 2.0, 0.0, {}),
        ("lower_bound", 0.1, 0.5, {"lower_bound": 1.0}),
        ("upper_bound", 20.0, 0.5, {"upper_bound": 5.0}),
        ("both_bounds", 2.0, 0.5, {"lower_bound": 0.5, "upper_bound": 1.5}),
        ("bounds_of_zero", 2.0, 0.5, {"lower_bound": 0.0, "upper_bound": 0.0}),
        ("lr_zero", 2.0, 0.5, {"lr": 0.0}),
    ]
    for op, master in (("lamb_update_phase2", ()), ("mp_lamb_update_phase2", (normal(3, 4),))):
        for name, weight_norm, step_norm, params in ratios:
            inputs = (normal(3, 4), normal(3, 4), exactly([weight_norm]), exactly([step_norm]), *master)
            yield Case(op, name, inputs, {"lr": 0.1, **params}, grad=())
        dtype = "float16" if master else "float64"
        kept = "float32" if master else dtype
        inputs = (
            normal(3, 4, dtype=dtype),
            normal(3, 4, dtype=kept),
            exactly([2.0], kept),
            exactly([0.5], kept),
            *master,
        )
        yield Case(op, dtype, inputs, {"lr": 0.1}, grad=(), rtol=RTOL.get(kept))
    inputs = (normal(3, 4, dtype="float16"), normal(3, 4, dtype="float16"), exactly([2.0], "float16"))
    yield Case("lamb_update_phase2", "float16", (*inputs, exactly([0.5], "float16")), {"lr": 0.1}, grad=())


def group_adagrads() -> Iterator[Case]:
    """Cases of an update that MXNet has for row-sparse gradients alone."""
    for name, params in (("dense", {}), ("dense_clipped", {"clip_gradient": 0.5, "rescale_grad": 2.0})):
        inputs = (normal(3, 4), normal(3, 4), uniform(3, 1, low=0.1))
        yield Case("_contrib_group_adagrad_update", f"refused_{name}", inputs, {"lr": 0.1, **params}, grad=())


def not_finite() -> Iterator[Case]:
    """Signs and norms of special gradients."""
    special = exactly([float("inf"), -float("inf"), float("nan"), 0.0, -0.0])
    for op in ("sgd_update", "signsgd_update"):
        yield Case(op, "inf_and_nan", (normal(5), special), {"lr": 0.1}, grad=())
        yield Case(
            op, "inf_and_nan_clipped", (normal(5), special), {"lr": 0.1, "clip_gradient": 1.0}, grad=()
        )
    for op, states in (("adam_update", 2), ("ftrl_update", 2), ("signum_update", 1)):
        kept = [uniform(5, low=0.1) for _ in range(states)]
        yield Case(op, "inf_and_nan", (normal(5), special, *kept), {"lr": 0.1}, grad=())
    zeros = exactly([0.0, 0.0])
    yield Case("adam_update", "all_zeros", (zeros, zeros, zeros, zeros), {"lr": 0.1}, grad=())
    yield Case("rmsprop_update", "all_zeros", (zeros, zeros, zeros), {"lr": 0.1}, grad=())
    yield Case("ftrl_update", "all_zeros", (zeros, zeros, zeros, zeros), {"lr": 0.1}, grad=())


CASES: list[Case] = [
    *(case for update in UPDATES for case in update.cases()),
    *lamb_second_phases(),
    *group_adagrads(),
    *not_finite(),
]
