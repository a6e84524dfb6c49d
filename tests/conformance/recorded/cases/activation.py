"""Cases of activations and of the softmax family."""

from __future__ import annotations

from collections.abc import Iterator

from tests.conformance.recorded.case import Case, Recipe, exactly, integers, normal, uniform

INF = float("inf")
NAN = float("nan")
ZEROS = exactly([-0.0, 0.0, -1.0, 1.0, -1e-6, 1e-6])
LARGE = exactly([-1000.0, -89.0, -20.0, -5.5, 5.5, 20.0, 89.0, 1000.0])
NOT_FINITE = exactly([-INF, INF, NAN, -2.0, 3.0])

ACTIVATIONS = ("relu", "sigmoid", "softrelu", "softsign", "tanh")
LEAKY = ("leaky", "elu", "selu", "gelu")

FLOAT32_RTOL = 2e-6  # what MXNet computes in float32 whatever the type of its data
FLOAT16_RTOL = 5e-3  # likewise


def activations() -> Iterator[Case]:
    """Every function at ordinary, special and extreme values."""
    shapes: list[tuple[str, Recipe]] = [
        ("plain", normal(3, 4)),
        ("one_axis", normal(5)),
        ("four_axes", normal(2, 1, 3, 2)),
        ("one_element", normal(1)),
        ("around_zero", ZEROS),
        ("large", LARGE),
        ("inf_and_nan", NOT_FINITE),
        ("float64", normal(3, 4, dtype="float64")),
        ("float16", normal(3, 4, dtype="float16")),
    ]
    for act_type in ACTIVATIONS:
        for name, data in shapes:
            atol = 3e-6 if name == "large" else None  # MXNet is off by 2e-6 where functions saturate
            yield Case("Activation", f"{act_type}_{name}", (data,), {"act_type": act_type}, atol=atol)
    yield Case("Activation", "refused_unknown_act_type", (normal(3),), {"act_type": "swish"})


def leaky_relus() -> Iterator[Case]:
    """The forms without a parameter tensor, then prelu and rrelu."""
    shapes: list[tuple[str, Recipe]] = [
        ("plain", normal(3, 4)),
        ("four_axes", normal(2, 1, 3, 2)),
        ("around_zero", ZEROS),
        ("large", LARGE),
        ("inf_and_nan", NOT_FINITE),
        ("float64", normal(3, 4, dtype="float64")),
        ("float16", normal(3, 4, dtype="float16")),
    ]
    yield Case("LeakyReLU", "defaults", (normal(3, 4),))
    for act_type in LEAKY:
        for name, data in shapes:
            rtol = FLOAT32_RTOL if name == "float64" else None
            params = {"act_type": act_type}
            yield Case("LeakyReLU", f"{act_type}_{name}", (data,), params, rtol=rtol, atol=rtol)
    for slope in (0.0, 0.01, 1.0, 1.5):
        name = f"slope_{str(slope).replace('.', '_')}"
        for act_type in ("leaky", "elu"):
            sloped = {"act_type": act_type, "slope": slope}
            yield Case("LeakyReLU", f"{act_type}_{name}", (normal(3, 4),), sloped)
    yield Case("LeakyReLU", "leaky_negative_slope", (normal(3, 4),), {"act_type": "leaky", "slope": -0.5})


def prelus() -> Iterator[Case]:
    """A slope per channel, or one for all."""
    recipes: list[tuple[str, tuple[Recipe, Recipe]]] = [
        ("slope_per_channel", (normal(2, 3, 4), uniform(3))),
        ("one_slope", (normal(2, 3, 4), exactly([0.25]))),
        ("two_axes", (normal(4, 3), uniform(3))),
        ("one_axis", (normal(4), exactly([0.3]))),
        ("one_axis_slope_per_element", (normal(4), uniform(4))),
        ("four_axes", (normal(2, 3, 2, 2), uniform(3))),
        ("one_channel", (normal(2, 1, 4), uniform(1))),
        ("around_zero", (exactly([[-0.0, 0.0], [-1.0, 1.0]]), uniform(2))),
        ("inf_and_nan", (exactly([[-INF, INF], [NAN, -1.0]]), exactly([0.5, 0.25]))),
        ("float64", (normal(2, 3, 4, dtype="float64"), uniform(3, dtype="float64"))),
        ("float16", (normal(2, 3, 4, dtype="float16"), uniform(3, dtype="float16"))),
        ("refused_slopes_that_do_not_fit", (normal(2, 3, 4), uniform(5))),
    ]
    for name, inputs in recipes:
        prefix = "" if name.startswith("refused") else "prelu_"
        rtol = FLOAT32_RTOL if name == "float64" else None
        yield Case("LeakyReLU", f"{prefix}{name}", inputs, {"act_type": "prelu"}, rtol=rtol, atol=rtol)


def rrelus() -> Iterator[Case]:
    """Leaky units of random slopes: prediction uses the middle of the bounds, training draws."""
    params = {"act_type": "rrelu"}
    bounds = {**params, "lower_bound": 0.1, "upper_bound": 0.9}
    yield Case("LeakyReLU", "rrelu_predicts", (normal(3, 4),), params, is_train=False)
    yield Case("LeakyReLU", "rrelu_predicts_within_bounds", (normal(3, 4),), bounds, is_train=False)
    yield Case(
        "LeakyReLU",
        "rrelu_predicts_float64",
        (normal(3, 4, dtype="float64"),),
        params,
        rtol=FLOAT32_RTOL,
        is_train=False,
    )
    yield Case("LeakyReLU", "rrelu_trains", (normal(3, 4),), params, compare="shapes")


def softmaxes(op: str) -> Iterator[Case]:
    """Cases that softmax, softmin and log_softmax have in common."""
    yield Case(op, "defaults", (normal(3, 4),))
    yield Case(op, "one_axis", (normal(5),))
    for axis in (0, 1, 2, -2):
        yield Case(op, f"axis_{str(axis).replace('-', 'minus_')}", (normal(2, 3, 4),), {"axis": axis})
    for temperature in (0.5, 1.0, 10.0):
        name = f"temperature_{str(temperature).replace('.', '_')}"
        yield Case(op, name, (normal(3, 4),), {"temperature": temperature})
    yield Case(op, "temperature_along_first_axis", (normal(3, 4),), {"axis": 0, "temperature": 2.0})
    yield Case(op, "axis_of_length_one", (normal(3, 1),), atol=1e-5)  # MXNet is off by 1e-6
    yield Case(op, "other_axes_of_length_one", (normal(1, 4, 1),), {"axis": 1})
    yield Case(op, "long_axis", (normal(2, 70),))
    yield Case(op, "large", (exactly([[1000.0, 999.0, -1000.0], [-1e30, -1e30, -2e30]]),))
    yield Case(op, "equal_values", (exactly([[2.0, 2.0, 2.0]]),))
    yield Case(op, "one_minus_inf", (exactly([[-INF, 0.0, 1.0]]),))
    yield Case(op, "all_minus_inf", (exactly([[-INF, -INF, -INF]]),))
    yield Case(op, "plus_inf", (exactly([[INF, 0.0, 1.0]]),))
    yield Case(op, "nan", (exactly([[NAN, 0.0, 1.0], [3.0, 0.0, 1.0]]),))
    for dtype in ("float16", "float64"):
        yield Case(op, dtype, (normal(3, 4, dtype=dtype),))
        yield Case(op, f"{dtype}_axis_0", (normal(3, 4, dtype=dtype),), {"axis": 0})
    for taken, given in (("float16", "float32"), ("float32", "float64"), ("float32", "float16")):
        rtol = FLOAT16_RTOL if "float16" in (taken, given) else FLOAT32_RTOL
        yield Case(
            op,
            f"{taken}_to_{given}",
            (normal(3, 4, dtype=taken),),
            {"dtype": given},
            rtol=rtol,
            atol=rtol / 5,
        )
    yield Case(op, "refused_axis_out_of_range", (normal(3, 4),), {"axis": 2})


def softmax_lengths() -> Iterator[Case]:
    """Softmaxes of which only the first `length` entries take part."""
    masked = {"use_length": True}
    shapes: list[tuple[str, Recipe, Recipe, dict[str, object]]] = [
        ("length_per_row", normal(3, 4), exactly([1, 3, 4], "int32"), {}),
        ("length_along_axis_1", normal(2, 3, 2), exactly([[1, 2], [3, 2]], "int32"), {"axis": 1}),
        ("length_along_axis_0", normal(3, 2), exactly([1, 2], "int32"), {"axis": 0}),
        ("length_zero", normal(2, 3), exactly([0, 2], "int32"), {}),
        ("length_beyond_the_axis", normal(2, 3), exactly([5, 2], "int32"), {}),
        ("length_and_temperature", normal(2, 3), exactly([3, 2], "int32"), {"temperature": 2.0}),
        ("length_int64", normal(2, 3), exactly([3, 2], "int64"), {}),
        ("length_of_one_entry", normal(2, 1), exactly([1, 1], "int32"), {}),
        ("length_float64_data", normal(2, 3, dtype="float64"), exactly([3, 2], "int32"), {}),
    ]
    for name, data, length, params in shapes:
        yield Case("softmax", name, (data, length), {**masked, **params}, grad=(0,))


def softmax_activations() -> Iterator[Case]:
    """Over channels, or over what a sample has."""
    for mode in ("instance", "channel"):
        for name, data in (
            ("three_axes", normal(2, 3, 2)),
            ("four_axes", normal(2, 3, 2, 2)),
            ("one_sample", normal(1, 3, 1)),
            ("large", exactly([[[1000.0, -1e30], [999.0, -1e30], [-1000.0, 0.0]]])),
            ("inf_and_nan", exactly([[[INF, -INF, NAN], [0.0, 1.0, 2.0]]])),
        ):
            yield Case("SoftmaxActivation", f"{mode}_{name}", (data,), {"mode": mode})
        for dtype in ("float16", "float64"):
            data = normal(2, 3, 2, dtype=dtype)
            yield Case("SoftmaxActivation", f"refused_{mode}_{dtype}", (data,), {"mode": mode})
    yield Case("SoftmaxActivation", "defaults", (normal(3, 4),))
    yield Case("SoftmaxActivation", "one_feature", (normal(3, 1),))
    yield Case("SoftmaxActivation", "refused_channel_of_two_axes", (normal(3, 4),), {"mode": "channel"})
    yield Case("SoftmaxActivation", "refused_one_axis", (normal(4),))


CASES: list[Case] = [
    *activations(),
    *leaky_relus(),
    *prelus(),
    *rrelus(),
    *(case for op in ("softmax", "softmin", "log_softmax") for case in softmaxes(op)),
    *softmax_lengths(),
    *softmax_activations(),
    Case("Activation", "refused_relu_int32", (integers(3, 4, dtype="int32"),), {"act_type": "relu"}),
    Case(
        "softmax", "refused_int32_to_float32", (integers(3, 4, dtype="int32"),), {"dtype": "float32"}, grad=()
    ),
]
