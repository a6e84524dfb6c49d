"""Random numbers as ONNX nodes: of the same distribution, and not the same numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

Rule = str | Callable[[Any], Any]

_REJECTED: Final = (
    "ONNX draws from uniform, normal and multinomial distributions, and this one is drawn from them by trials"
)


def _drawn(node: Any, kind: str, dtype: int = 1, **params: float) -> str:
    """A draw in the output's shape."""
    return str(node.add(kind, shape=node.fixed_lengths(None, 0), dtype=dtype, **params))


def _as_output(node: Any, made: str) -> str:
    return made if node.out_dtypes[0].name == "float32" else str(node.cast(made, node.out_dtypes[0]))


def _normal(node: Any) -> str:
    return _as_output(node, _drawn(node, "RandomNormal", mean=node.op.loc, scale=node.op.scale))


def _uniform(node: Any) -> str:
    return _as_output(node, _drawn(node, "RandomUniform", low=node.op.low, high=node.op.high))


def _exponential(node: Any) -> str:
    """`-log(u) / lam` of a uniform u."""
    return _as_output(node, node.add("Mul", _logs(node), node.const(-1 / node.op.lam, "float32")))


def _logs(node: Any) -> str:
    return str(node.add("Log", _drawn(node, "RandomUniform", low=1e-30, high=1.0)))


def _exponential_like(node: Any) -> str:
    made = node.add("Log", node.add("RandomUniformLike", node.inputs[0], low=1e-30, high=1.0))
    return str(node.add("Mul", made, node.const(-1 / node.op.lam)))


def _whole_numbers(node: Any) -> str:
    """A uniform number rounded down, in double precision, which holds the integers."""
    low, high = node.op.low, node.op.high
    made = node.add("Floor", _drawn(node, "RandomUniform", 11, low=float(low), high=float(high)))
    return str(node.cast(node.add("Min", made, node.const(high - 1, "float64")), node.out_dtypes[0]))


def _of_arrays(draw: Callable[[Any, list[str]], str]) -> Rule:
    """As many draws as `shape` says for each element of the parameters."""

    def rule(node: Any) -> str:
        new = tuple(range(len(node.shapes[0]), len(node.out_shapes[0])))
        params = [node.cast(name, "float32") for name in node.inputs]
        return _as_output(node, draw(node, [node.unsqueeze(name, *new) if new else name for name in params]))

    return rule


def _each_uniform(node: Any, params: list[str]) -> str:
    width = node.add("Mul", node.add("Sub", params[1], params[0]), _drawn(node, "RandomUniform"))
    return str(node.add("Add", width, params[0]))


def _each_normal(node: Any, params: list[str]) -> str:
    return str(node.add("Add", node.add("Mul", _drawn(node, "RandomNormal"), params[1]), params[0]))


def _each_exponential(node: Any, params: list[str]) -> str:
    return str(node.add("Neg", node.add("Div", _logs(node), params[0])))


def _shuffled(node: Any) -> str:
    """Rows in the order of as many uniform numbers."""
    count = node.fixed_lengths(0, 0)[0]
    drawn = node.add("RandomUniform", shape=(count,), dtype=1)
    _, order = node.add("TopK", drawn, node.ints(count), outputs=2)
    return str(node.add("Gather", node.inputs[0], order, axis=0))


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
    "_random_exponential_like": _exponential_like,
    "_random_randint": _whole_numbers,
    "_sample_uniform": _of_arrays(_each_uniform),
    "_sample_normal": _of_arrays(_each_normal),
    "_sample_exponential": _of_arrays(_each_exponential),
    "_shuffle": _shuffled,
    "_random_normal_like": lambda node: node.add(
        "RandomNormalLike", node.inputs[0], mean=node.op.loc, scale=node.op.scale
    ),
    "_random_uniform_like": lambda node: node.add(
        "RandomUniformLike", node.inputs[0], low=node.op.low, high=node.op.high
    ),
    "_sample_multinomial": _multinomial,
}
ABSENT: Final[Mapping[str, str]] = dict.fromkeys(
    (
        "_random_gamma", "_random_generalized_negative_binomial", "_random_negative_binomial",
        "_random_poisson", "_random_gamma_like", "_random_generalized_negative_binomial_like",
        "_random_negative_binomial_like", "_random_poisson_like", "_sample_gamma",
        "_sample_generalized_negative_binomial", "_sample_negative_binomial", "_sample_poisson",
        "_sample_unique_zipfian",
    ),
    _REJECTED,
)  # fmt: skip


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
