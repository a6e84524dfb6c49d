"""Functions of JAX: by name an expression, a shape line, and domains of arguments where not every number will do."""

from __future__ import annotations

from typing import Final

from operad_sdk import Contract, PositiveDefinite, positive

_EACH: Final = "x:(...) -> y:(...)"
_TWO: Final = "a:(...), b:(...) -> y:(...)"
_ROWS: Final = "x:(N, D) -> y:(N); D >= 1"
_ALONG: Final = "x:(N, D) -> y:(N, D); D >= 1"
_POSITIVE: Final = Contract(inputs={"x": positive()})
_DEFINITE: Final = Contract(inputs={"x": PositiveDefinite()})

TABLE: Final[dict[str, tuple[object, ...]]] = {
    **{name: (f"jnp.{name}(x)", _EACH) for name in ("abs", "arctan", "cos", "exp", "expm1", "sinc", "square", "tanh")},
    **{name: (f"jax.nn.{name}(x)", _EACH) for name in ("elu", "gelu", "relu", "relu6", "sigmoid", "silu", "softplus", "mish")},
    **{name: (f"jnp.{name}(x)", _EACH, _POSITIVE) for name in ("log", "sqrt")},
    **{name: (f"jnp.{name}(a, b)", _TWO) for name in ("arctan2", "hypot", "logaddexp", "maximum", "multiply")},
    **{name: (f"jnp.{name}(x, -1)", _ROWS) for name in ("sum", "mean", "prod", "max", "median", "std", "var")},
    "logsumexp": ("jax.nn.logsumexp(x, -1)", _ROWS),
    "norm": ("jnp.linalg.norm(x, axis=-1)", _ROWS),
    "cumsum": ("jnp.cumsum(x, -1)", _ALONG),
    "cumprod": ("jnp.cumprod(x, -1)", _ALONG),
    "sort": ("jnp.sort(x, -1)", _ALONG),
    "softmax": ("jax.nn.softmax(x, -1)", _ALONG),
    "log_softmax": ("jax.nn.log_softmax(x, -1)", _ALONG),
    "standardize": ("jax.nn.standardize(x, -1)", _ALONG),
    "matmul": ("jnp.matmul(a, b)", "a:(N, K), b:(K, M) -> y:(N, M)"),
    "det": ("jnp.linalg.det(x)", "x:(N, K, K) -> y:(N); K >= 1"),
    "inv": ("jnp.linalg.inv(x)", "x:(N, K, K) -> y:(N, K, K); K >= 1", _DEFINITE),
    "cholesky": ("jnp.linalg.cholesky(x)", "x:(N, K, K) -> y:(N, K, K); K >= 1", _DEFINITE),
}  # fmt: skip
