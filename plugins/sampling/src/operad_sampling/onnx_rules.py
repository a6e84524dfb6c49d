"""Random numbers as ONNX nodes: of the same distribution, and not the same numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

Rule = str | Callable[[Any], Any]

_SHARED: Final = "ONNX draws from uniform, normal and multinomial distributions alone"


def _normal(node: Any) -> Any:
    shape = node.fixed_lengths(None, 0)
    made = node.add("RandomNormal", mean=node.op.loc, scale=node.op.scale, shape=shape, dtype=1)
    return made if node.out_dtypes[0].name == "float32" else node.cast(made, node.out_dtypes[0])


def _uniform(node: Any) -> Any:
    shape = node.fixed_lengths(None, 0)
    made = node.add("RandomUniform", low=node.op.low, high=node.op.high, shape=shape, dtype=1)
    return made if node.out_dtypes[0].name == "float32" else node.cast(made, node.out_dtypes[0])


def _exponential(node: Any) -> Any:
    """`-log(u) / lam` of a uniform u."""
    shape = node.fixed_lengths(None, 0)
    logs = node.add("Log", node.add("RandomUniform", low=1e-30, high=1.0, shape=shape, dtype=1))
    made = node.add("Mul", logs, node.const(-1 / node.op.lam, "float32"))
    return made if node.out_dtypes[0].name == "float32" else node.cast(made, node.out_dtypes[0])


def _multinomial(node: Any) -> Any:
    """Multinomial takes logarithms of the shares."""
    if node.op.get_prob or len(node.shapes[0]) != 2 or len(node.op.shape) > 1:
        node.refuse("only draws from rows of probabilities, without their logarithms, have a counterpart")
    count = node.op.shape[0] if node.op.shape else 1
    found = node.add("Multinomial", node.add("Log", node.inputs[0]), sample_size=count, dtype=7)
    found = found if node.op.shape else node.squeeze(found, 1)
    return node.cast(found, node.out_dtypes[0])


EXPORTS: Final[Mapping[str, Rule]] = {
    "_random_normal": _normal,
    "_random_uniform": _uniform,
    "_random_exponential": _exponential,
    "_random_normal_like": lambda node: node.add(
        "RandomNormalLike", node.inputs[0], mean=node.op.loc, scale=node.op.scale
    ),
    "_random_uniform_like": lambda node: node.add(
        "RandomUniformLike", node.inputs[0], low=node.op.low, high=node.op.high
    ),
    "_sample_multinomial": _multinomial,
}
ABSENT: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        (
            "_random_gamma", "_random_generalized_negative_binomial", "_random_negative_binomial",
            "_random_poisson", "_random_gamma_like", "_random_generalized_negative_binomial_like",
            "_random_negative_binomial_like", "_random_poisson_like", "_sample_exponential", "_sample_gamma",
            "_sample_generalized_negative_binomial", "_sample_negative_binomial", "_sample_normal",
            "_sample_poisson", "_sample_uniform", "_random_exponential_like", "_random_randint",
            "_sample_unique_zipfian",
        ),
        _SHARED,
    ),
    "_shuffle": "ONNX has no random order",
}  # fmt: skip


def _shaped(operator: str) -> Callable[[Any], Any]:
    """A draw of a shape that is an attribute."""

    def rule(node: Any) -> Any:
        params = {name: node.attr(key, default) for name, (key, default) in _PARAMS[operator].items()}
        dtype = node.dtype_named(node.attr("dtype", 1)).name
        if node.op_type.endswith("Like"):
            return node.call(f"{operator}_like", node.sym(), **params)
        return node.call(operator, shape=tuple(node.attr("shape")), dtype=dtype, **params)

    return rule


_PARAMS: Final[Mapping[str, Mapping[str, tuple[str, float]]]] = {
    "_random_normal": {"loc": ("mean", 0.0), "scale": ("scale", 1.0)},
    "_random_uniform": {"low": ("low", 0.0), "high": ("high", 1.0)},
}
IMPORTS: Final[Mapping[str, Rule]] = {
    "RandomNormal": _shaped("_random_normal"),
    "RandomNormalLike": _shaped("_random_normal"),
    "RandomUniform": _shaped("_random_uniform"),
    "RandomUniformLike": _shaped("_random_uniform"),
}
