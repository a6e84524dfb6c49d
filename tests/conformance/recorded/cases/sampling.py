"""Random operators: shape and dtype are compared, and values where only one is possible."""

from __future__ import annotations

from typing import Any

from tests.conformance.recorded.case import SHAPES, Case, exactly, integers, normal, uniform

DTYPES = ("float16", "float32", "float64")
# By distribution: unusual parameters, and parameters out of their domain.
PARAMS: dict[str, tuple[dict[str, Any], dict[str, Any] | None]] = {
    "uniform": ({"low": -3.0, "high": 2.5}, None),
    "normal": ({"loc": -2.0, "scale": 0.5}, {"scale": -1.0}),
    "gamma": ({"alpha": 0.5, "beta": 3.0}, {"alpha": -1.0}),
    "exponential": ({"lam": 4.0}, {"lam": -1.0}),
    "poisson": ({"lam": 12.5}, {"lam": -1.0}),
    "negative_binomial": ({"k": 4, "p": 0.25}, {"k": 4, "p": -0.5}),
    "generalized_negative_binomial": ({"mu": 3.0, "alpha": 0.3}, {"mu": -1.0, "alpha": 0.5}),
}
# Parameters with which only one value can be drawn.
CERTAIN: dict[str, dict[str, Any]] = {
    "uniform": {"low": 2.0, "high": 2.0},
    "poisson": {"lam": 0.0},
    "negative_binomial": {"k": 3, "p": 1.0},
    "generalized_negative_binomial": {"mu": 0.0, "alpha": 0.0},
}
# Ranges that the tensors of parameters are drawn from, in MXNet's order.
TENSORS: dict[str, tuple[tuple[float, float], ...]] = {
    "uniform": ((-2, 0), (1, 3)),
    "normal": ((-1, 1), (0.5, 2)),
    "gamma": ((0.5, 3), (0.5, 2)),
    "exponential": ((0.5, 3),),
    "poisson": ((1, 9),),
    "negative_binomial": ((1, 5), (0.2, 0.8)),
    "generalized_negative_binomial": ((1, 4), (0.2, 0.8)),
}


def _from_numbers() -> list[Case]:
    cases = []
    for name, (params, refused) in PARAMS.items():
        op = f"_random_{name}"
        cases += [
            *(
                Case(op, shape, params={**params, "shape": to}, compare="shapes")
                for shape, to in SHAPES.items()
            ),
            *(
                Case(op, f"of_{t}", params={**params, "shape": (2, 3), "dtype": t}, compare="shapes")
                for t in DTYPES
            ),
            Case(op, "default_parameters", params={"shape": (2, 2)}, compare="shapes"),
        ]
        if refused is not None:
            cases.append(Case(op, "refused_parameters", params={**refused, "shape": (2,)}, compare="shapes"))
    certain = [
        Case(f"_random_{name}", "one_value_possible", params={**params, "shape": (2, 2)})
        for name, params in CERTAIN.items()
    ]
    to_int32 = {"shape": (2,), "dtype": "int32"}
    return [
        *cases,
        *certain,
        Case("_random_uniform", "refused_without_shape", compare="shapes"),
        Case("_random_uniform", "refused_int32", params=to_int32, compare="shapes"),
        Case("_random_normal", "refused_scale_0", params={"scale": 0.0, "shape": 2}, compare="shapes"),
    ]


def _randint() -> list[Case]:
    op = "_random_randint"
    ends = {"low": -4, "high": 9}
    return [
        *(
            Case(op, name, params={**ends, "shape": shape}, compare="shapes")
            for name, shape in SHAPES.items()
        ),
        *(
            Case(op, f"of_{t}", params={**ends, "shape": (2, 3), "dtype": t}, compare="shapes")
            for t in ("int32", "int64")
        ),
        Case(op, "one_value_possible", params={"low": 7, "high": 8, "shape": (2, 2)}),
        Case(op, "refused_float32", params={**ends, "shape": (2,), "dtype": "float32"}, compare="shapes"),
    ]


def _like() -> list[Case]:
    cases = []
    for name, (params, _) in PARAMS.items():
        op = f"_random_{name}_like"
        cases += [
            *(
                Case(op, shape, [normal(*to)], params, grad=[], compare="shapes")
                for shape, to in SHAPES.items()
                if isinstance(to, tuple)
            ),
            *(
                Case(op, f"of_{t}", [integers(2, 3, dtype=t)], params, grad=[], compare="shapes")
                for t in DTYPES
            ),
            Case(op, "default_parameters", [normal(2, 2)], grad=[], compare="shapes"),
            Case(op, "empty", [normal(0, 3)], params, grad=[], compare="shapes"),
        ]
    return [
        *cases,
        *(
            Case(f"_random_{name}_like", "one_value_possible", [normal(2, 2)], params, grad=[])
            for name, params in CERTAIN.items()
        ),
    ]


def _from_tensors() -> list[Case]:
    shapes: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
        "one_each": ((3,), {}),
        "several_each": ((3,), {"shape": 4}),
        "matrix_each": ((2,), {"shape": (2, 3)}),
        "matrix_of_parameters": ((2, 3), {}),
        "matrix_of_parameters_several": ((2, 3), {"shape": (2,)}),
        "one_parameter": ((1,), {"shape": (5,)}),
        "shape_of_ones": ((2,), {"shape": (1, 1)}),
    }
    return [
        *(
            Case(
                f"_sample_{name}",
                case,
                [uniform(*shape, low=low, high=high) for low, high in tensors],
                params,
                grad=[],
                compare="shapes",
            )
            for name, tensors in TENSORS.items()
            for case, (shape, params) in shapes.items()
        ),
        *(
            Case(
                f"_sample_{name}",
                f"{source}_to_{target}",
                [uniform(2, low=low, high=high, dtype=source) for low, high in tensors],
                {"shape": 2, "dtype": target},
                grad=[],
                compare="shapes",
            )
            for name, tensors in TENSORS.items()
            for source, target in (("float32", "float64"), ("float64", "float16"), ("float64", "None"))
        ),
        Case(
            "_sample_uniform", "one_value_possible", [exactly([1, 2]), exactly([1, 2])], {"shape": 3}, grad=[]
        ),
        Case(
            "_sample_normal", "one_value_possible", [exactly([1, 2]), exactly([0, 0])], {"shape": 3}, grad=[]
        ),
        Case("_sample_poisson", "one_value_possible", [exactly([0, 0])], {"shape": 3}, grad=[]),
        Case("_sample_uniform", "refused_shapes_differ", [exactly([1, 2]), exactly([3])], grad=[]),
    ]


def _multinomial() -> list[Case]:
    op = "_sample_multinomial"
    certain = exactly([[0, 1, 0], [0, 0, 1]])
    spread = exactly([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]])
    return [
        Case(op, "vector", [exactly([0.25, 0.75])], grad=[], compare="shapes"),
        Case(op, "matrix", [spread], grad=[], compare="shapes"),
        Case(op, "several_each", [spread], {"shape": 4}, grad=[], compare="shapes"),
        Case(op, "matrix_each", [spread], {"shape": (2, 2)}, grad=[], compare="shapes"),
        Case(op, "vector_several", [exactly([0.25, 0.75])], {"shape": (3,)}, grad=[], compare="shapes"),
        Case(op, "with_probabilities", [spread], {"shape": 2, "get_prob": True}, grad=[], compare="shapes"),
        Case(op, "certain", [certain], {"shape": 3}, grad=[]),
        Case(op, "certain_with_probabilities", [certain], {"shape": 2, "get_prob": True}, grad=[0]),
        Case(op, "one_class", [exactly([[1], [1]])], {"shape": 2}, grad=[]),
        *(
            Case(op, f"to_{t}", [certain], {"shape": 2, "dtype": t}, grad=[])
            for t in ("float16", "float32", "float64", "int32", "uint8")
        ),
        *(Case(op, f"of_{t}", [exactly([[0, 1], [1, 0]], t)], grad=[]) for t in ("float16", "float64")),
    ]


def _shuffle() -> list[Case]:
    return [
        *(
            Case("_shuffle", name, [normal(*shape)], grad=[], compare="shapes")
            for name, shape in SHAPES.items()
            if isinstance(shape, tuple)
        ),
        *(
            Case("_shuffle", f"of_{t}", [integers(4, 2, low=0, dtype=t)], grad=[], compare="shapes")
            for t in (*DTYPES, "int32", "int64", "uint8")
        ),
        Case("_shuffle", "one_row", [normal(1, 5)], grad=[]),
        Case("_shuffle", "equal_rows", [exactly([[1, 2], [1, 2], [1, 2]])], grad=[]),
    ]


CASES: list[Case] = [
    *_from_numbers(),
    *_randint(),
    *_like(),
    *_from_tensors(),
    *_multinomial(),
    *_shuffle(),
]
