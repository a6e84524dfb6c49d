"""Cases of elementwise operators: of one array, of two, of an array and a number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.conformance.recorded.case import Case, Recipe, exactly, integers, normal, uniform

NAN, INF = float("nan"), float("inf")
SPECIAL: Final = (NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 2.0)

UNARY: Final[dict[str, tuple[float, float]]] = {
    **dict.fromkeys(
        """
            abs sign round rint ceil floor trunc fix square cbrt sin cos tan arctan degrees radians
            sinh cosh tanh arcsinh erf negative relu sigmoid softsign logical_not _copy BlockGrad
            make_loss zeros_like ones_like shape_array size_array exp expm1
        """.split(),
        (-3.0, 3.0),
    ),
    **dict.fromkeys("sqrt rsqrt rcbrt log log10 log2 gamma gammaln reciprocal".split(), (0.1, 5.0)),
    "log1p": (-0.9, 4.0),
    **dict.fromkeys(["arcsin", "arccos", "arctanh", "erfinv"], (-0.95, 0.95)),
    "arccosh": (1.05, 5.0),
    "hard_sigmoid": (-4.0, 4.0),
    "clip": (-3.0, 3.0),
    "Cast": (-3.0, 3.0),
}
"""Operators of one array, with the interval their ordinary inputs come from."""

UNARY_PARAMS: Final[dict[str, dict[str, Any]]] = {
    "clip": {"a_min": -1.0, "a_max": 1.5},
    "Cast": {"dtype": "float64"},
}
TAILS: Final[dict[str, tuple[float, ...]]] = {
    "exp": (80.0, -80.0, 88.7, 89.0, -110.0),
    "expm1": (1e-6, -1e-6, 80.0, -80.0),
    "log1p": (1e-6, -1e-6, 1e6, -0.99999),
    "tanh": (9.0, -9.0, 20.0, 1e-4, -1e-4),
    "sigmoid": (80.0, -80.0, 100.0, -100.0, 20.0),
    "erf": (3.0, -3.5, 5.0, 1e-4),
    "erfinv": (0.999, -0.999, 0.99999, 1.0, -1.0, 1.5),
    "gamma": (20.0, 33.0, 35.0, -0.5, -1.5, -1.0, 1e-3),
    "gammaln": (1e4, -0.5, -1.5, 1e-3, -2.0),
    "sinh": (80.0, -80.0, 90.0, 1e-4),
    "cosh": (80.0, -80.0, 90.0, 1e-4),
    "sqrt": (1e30, 1e-30, -1.0, 0.0),
    "rsqrt": (1e30, 1e-30, -1.0, 0.0),
    "cbrt": (1e30, -1e-30, -8.0, 0.0),
    "rcbrt": (1e30, -1e-30, -8.0, 0.0),
    "square": (1e19, -1e19, 1e20, 1e-23),
    "reciprocal": (1e30, 1e-30, -4.0, 3e38),
    "arctanh": (0.99999, -0.99999, 1.0, -1.0, 2.0),
    "arcsin": (0.99999, 1.0, -1.0, 2.0),
    "arccos": (0.99999, 1.0, -1.0, 2.0),
    "arccosh": (1.0, 1.00001, 1e6, 0.5),
    "arcsinh": (1e6, -1e6, 1e-4),
    "sin": (100.0, -1000.0, 1e5),
    "cos": (100.0, -1000.0, 1e5),
    "tan": (1.5707, -1.57, 100.0),
    "softsign": (1e10, -1e10, 1e38),
    "round": (0.5, -0.5, 1.5, -1.5, 8388609.0, 1e10),
    "rint": (0.5, -0.5, 1.5, -1.5, 8388609.0, 1e10),
}
"""Inputs where an operator saturates, overflows or loses digits; each is compared with itself alone."""


FLOAT32_INSIDE: Final = "degrees radians hard_sigmoid gamma gammaln erf erfinv".split()
"""Operators for which MXNet keeps constants, parameters or series in float32 whatever the array's type."""


def _special(dtype: str = "float32") -> Recipe:
    return exactly(SPECIAL, dtype)


def _unary() -> Iterator[Case]:
    for op, (low, high) in UNARY.items():
        params = UNARY_PARAMS.get(op, {})
        edge: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-7}
        exact = 3e-6 if op in FLOAT32_INSIDE else 1e-9
        yield Case(op, "defaults", [uniform(2, 3, low=low, high=high)], params)
        yield Case(op, "predicting", [uniform(5, low=low, high=high)], params, is_train=False)
        yield Case(op, "float64", [uniform(4, low=low, high=high, dtype="float64")], params, rtol=exact)
        yield Case(op, "float16", [uniform(3, 2, low=low, high=high, dtype="float16")], params)
        yield Case(op, "int32", [integers(6, low=1, high=5, dtype="int32")], params)
        yield Case(op, "int32_gradient", [integers(6, low=-4, high=5, dtype="int32")], params, grad=(0,))
        yield Case(op, "uint8", [integers(5, low=0, high=9, dtype="uint8")], params)
        yield Case(op, "one_element_of_four_axes", [uniform(1, 1, 1, 1, low=low, high=high)], params)
        yield Case(op, "empty", [uniform(0, 3, low=low, high=high)], params)
        yield Case(op, "special_values", [_special()], params, **edge)
        yield Case(op, "special_float64", [_special("float64")], params, rtol=exact, atol=1e-12)
        for i, value in enumerate(TAILS.get(op, ())):
            yield Case(op, f"tail_{i}", [exactly([value])], params, **edge)


CLIPS: Final[Mapping[str, dict[str, float]]] = {
    "at_bounds": {"a_min": -1.0, "a_max": 1.0},
    "crossed_bounds": {"a_min": 1.0, "a_max": -1.0},
    "infinite_bounds": {"a_min": -INF, "a_max": INF},
    "one_point": {"a_min": 0.5, "a_max": 0.5},
}


def _with_parameters() -> Iterator[Case]:
    for name, params in CLIPS.items():
        yield Case("clip", name, [_special()], params)
    yield Case("clip", "fraction_on_integers", [integers(7, dtype="int32")], {"a_min": -1.5, "a_max": 1.5})
    for name, params in {
        "steep": {"alpha": 2.0, "beta": 0.1},
        "flat": {"alpha": 0.0, "beta": 0.3},
        "falling": {"alpha": -0.5, "beta": 0.5},
    }.items():
        yield Case("hard_sigmoid", name, [uniform(2, 3)], params)
    yield Case("hard_sigmoid", "at_kinks", [exactly([-2.5, 2.5, 0.0])])
    for dtype in ("float16", "float32", "int8", "uint8", "int32", "int64", "bool"):
        yield Case("Cast", f"to_{dtype}", [exactly([0.0, -1.7, 2.5, 3.2, 100.9])], {"dtype": dtype})
    yield Case("Cast", "from_uint8", [integers(4, low=0, high=9, dtype="uint8")], {"dtype": "float16"})
    yield Case("Cast", "overflows_float16", [exactly([1e5, -1e5, 1e-8])], {"dtype": "float16"})
    like = "_identity_with_attr_like_rhs"
    yield Case(like, "defaults", [normal(2, 3), normal(2, 3)])
    yield Case(like, "float64", [normal(4, dtype="float64"), normal(4, dtype="float64")])
    yield Case(like, "float16", [normal(4, dtype="float16"), normal(4, dtype="float16")])
    yield Case(like, "int32", [integers(4, dtype="int32"), integers(4, dtype="int32")])
    yield Case(like, "empty", [normal(0, 2), normal(0, 2)])
    yield Case(like, "special_values", [_special(), _special()])


BINARY: Final = """
    elemwise_add elemwise_sub elemwise_mul elemwise_div _power _maximum _minimum _hypot _mod _equal
    _not_equal _greater _greater_equal _lesser _lesser_equal _logical_and _logical_or _logical_xor
    _grad_add
""".split()

PAIRS: Final = (
    (NAN, 1.0), (1.0, NAN), (INF, 1.0), (1.0, INF), (-INF, INF), (0.0, 0.0), (-0.0, 0.0), (0.0, -0.0),
    (1.0, 0.0), (-1.0, 0.0), (-1.0, 2.0), (-1.0, 0.5), (2.0, -1.0), (5.0, -3.0), (-5.0, 3.0), (-6.0, 3.0),
    (3.0, 3.0), (INF, INF), (2.5, 1e30), (-2.5, 1e30),
)  # fmt: skip


def _binary() -> Iterator[Case]:
    left, right = zip(*PAIRS, strict=True)
    for op in BINARY:
        low = 0.2 if op == "_power" else -3.0
        yield Case(op, "defaults", [uniform(2, 3, low=low, high=3.0), uniform(2, 3, low=1.0, high=3.0)])
        yield Case(
            op, "predicting", [uniform(5, low=low, high=3.0), uniform(5, low=-2.0, high=-0.5)], is_train=False
        )
        for dtype, rtol in (("float64", 1e-9), ("float16", 4e-3)):
            pair = [
                uniform(2, 2, low=low, high=3.0, dtype=dtype),
                uniform(2, 2, low=0.5, high=2.0, dtype=dtype),
            ]
            yield Case(op, dtype, pair, rtol=rtol)
        yield Case(op, "int32", [integers(8, low=-7, high=8, dtype="int32"), _ints(8)])
        yield Case(op, "int32_gradient", [_ints(6), _ints(6)], grad=(0, 1))
        yield Case(op, "uint8", [_ints(6, "uint8"), _ints(6, "uint8")])
        yield Case(op, "int64_beyond_float64", [exactly([2**53 + 1, 5], "int64"), exactly([1, 3], "int64")])
        yield Case(op, "ties", [integers(3, 4, low=0, high=2), integers(3, 4, low=0, high=2)])
        yield Case(op, "one_element", [uniform(1, low=0.5), uniform(1, low=0.5)])
        yield Case(op, "empty", [normal(2, 0), normal(2, 0)])
        yield Case(op, "special_values", [exactly(left), exactly(right)], atol=1e-6)
        yield Case(op, "refused_shapes_differ", [normal(2, 3), normal(1, 3)])
        yield Case(op, "refused_dtypes_differ", [normal(3), normal(3, dtype="float64")])


def _ints(count: int, dtype: str = "int32") -> Recipe:
    return integers(count, low=1, high=6, dtype=dtype)


def _sums() -> Iterator[Case]:
    for count in (1, 2, 3, 5, 12):
        yield Case("add_n", f"of_{count}", [normal(2, 3) for _ in range(count)], {"num_args": count})
    for dtype in ("float64", "float16", "int32"):
        yield Case("add_n", dtype, [normal(4, scale=3.0, dtype=dtype) for _ in range(3)], {"num_args": 3})
    yield Case("add_n", "empty", [normal(0, 3), normal(0, 3)], {"num_args": 2})
    yield Case("add_n", "special_values", [_special(), exactly(SPECIAL[::-1])], {"num_args": 2})
    yield Case("add_n", "refused_shapes_differ", [normal(2, 3), normal(3)], {"num_args": 2})


SCALAR: Final = """
    _plus_scalar _minus_scalar _rminus_scalar _mul_scalar _div_scalar _rdiv_scalar _mod_scalar
    _rmod_scalar _power_scalar _rpower_scalar _maximum_scalar _minimum_scalar _hypot_scalar
    _equal_scalar _not_equal_scalar _greater_scalar _greater_equal_scalar _lesser_scalar
    _lesser_equal_scalar _logical_and_scalar _logical_or_scalar _logical_xor_scalar
""".split()


def _scalar() -> Iterator[Case]:
    for op in SCALAR:
        low = 0.2 if op == "_power_scalar" else -3.0
        yield Case(op, "defaults", [uniform(2, 3, low=low, high=3.0)], {"scalar": 1.5})
        for name, scalar in {"zero": 0.0, "minus_two": -2.0, "one": 1.0, "nan": NAN, "inf": INF}.items():
            yield Case(op, f"scalar_{name}", [_special()], {"scalar": scalar}, atol=1e-6)
        yield Case(op, "predicting", [uniform(4, low=0.2)], {"scalar": 0.5}, is_train=False)
        yield Case(op, "float64", [uniform(4, low=0.2, dtype="float64")], {"scalar": 1.1}, rtol=1e-9)
        yield Case(op, "float16", [uniform(4, low=0.2, dtype="float16")], {"scalar": 1.1}, rtol=4e-3)
        yield Case(op, "int32", [_ints(6)], {"scalar": 2.0})
        yield Case(op, "int32_and_a_fraction", [_ints(6)], {"scalar": 2.5})
        yield Case(op, "int32_said_to_be_whole", [_ints(6)], {"scalar": 2.0, "is_int": True})
        yield Case(op, "int32_gradient", [_ints(6)], {"scalar": 3.0}, grad=(0,))
        yield Case(op, "uint8", [_ints(6, "uint8")], {"scalar": 3.0})
        yield Case(op, "uint8_and_a_large_number", [_ints(6, "uint8")], {"scalar": 300.0})
        yield Case(op, "uint8_and_a_negative_number", [_ints(6, "uint8")], {"scalar": -1.0})
        yield Case(op, "int64", [exactly([2**40 + 1, -7], "int64")], {"scalar": 3.0})
        yield Case(op, "empty", [normal(0, 3)], {"scalar": 2.0})
        yield Case(op, "one_element", [uniform(1, 1, low=0.5)], {"scalar": 0.25})
        yield Case(op, "without_scalar", [uniform(3, low=0.5)])


CASES: Final = [*_unary(), *_with_parameters(), *_binary(), *_sums(), *_scalar()]
