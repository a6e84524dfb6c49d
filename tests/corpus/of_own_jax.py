"""Functions of JAX with a backward pass by hand, as people write them: `jax.custom_vjp` and `jax.custom_jvp` of ours."""

from __future__ import annotations

from typing import Any, Final

import jax
import jax.numpy as jnp

from operad_sdk import Contract, Integers

PROGRAM: Final = ("from tests.corpus import of_own_jax as own",)
_EACH: Final = "x:(...) -> y:(...)"
_LABELED: Final = "x:(N, 3), t:int64(N) -> y:(N)"


@jax.custom_vjp
def rms_norm(x: Any, w: Any) -> Any:
    """W x / sqrt(mean(x^2) + 1e-3)."""
    return w * x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-3)


def _rms_norm_backward(saved: Any, head: Any) -> Any:
    x, w = saved
    scale = jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-3)
    n, g = x * scale, head * w
    return scale * (g - n * jnp.mean(g * n, -1, keepdims=True)), jnp.sum(head * n, 0)


rms_norm.defvjp(lambda x, w: (rms_norm(x, w), (x, w)), _rms_norm_backward)


@jax.custom_vjp
def log1pexp(x: Any) -> Any:
    """log(1 + exp(x)), with sigmoid(x) as its slope."""
    return jnp.logaddexp(x, jnp.zeros_like(x))


log1pexp.defvjp(lambda x: (log1pexp(x), x), lambda x, head: (head * jax.nn.sigmoid(x),))


@jax.custom_vjp
def clip_gradient(x: Any) -> Any:
    """The identity, whose gradient is cut to -1 to 1."""
    return x


clip_gradient.defvjp(lambda x: (x, None), lambda _, head: (jnp.clip(head, -1, 1),))


@jax.custom_vjp
def straight_through_round(x: Any) -> Any:
    """Quarters, with the gradient of the identity."""
    return jnp.round(x * 4) / 4


straight_through_round.defvjp(lambda x: (straight_through_round(x), None), lambda _, head: (head,))


@jax.custom_vjp
def focal_loss(x: Any, t: Any) -> Any:
    """-(1 - p)^2 log(p) of p = softmax(x)[t]."""
    log_p = jnp.take_along_axis(jax.nn.log_softmax(x), t[:, None], -1)[:, 0]
    return -((1 - jnp.exp(log_p)) ** 2) * log_p


def _focal_backward(saved: Any, head: Any) -> Any:
    x, t = saved
    log_p = jnp.take_along_axis(jax.nn.log_softmax(x), t[:, None], -1)
    p = jnp.exp(log_p)
    slope = 2 * (1 - p) * p * log_p - (1 - p) ** 2
    return head[:, None] * slope * (jax.nn.one_hot(t, x.shape[-1], dtype=x.dtype) - jax.nn.softmax(x)), None


focal_loss.defvjp(lambda x, t: (focal_loss(x, t), (x, t)), _focal_backward)


@jax.custom_vjp
def smoothed_cross_entropy(x: Any, t: Any) -> Any:
    """Cross entropy with a tenth of each label spread over all classes."""
    return -jnp.sum(_smoothed(x, t) * jax.nn.log_softmax(x), -1)


def _smoothed(x: Any, t: Any) -> Any:
    return 0.9 * jax.nn.one_hot(t, x.shape[-1], dtype=x.dtype) + jnp.asarray(0.1 / x.shape[-1], x.dtype)


def _smoothed_backward(saved: Any, head: Any) -> Any:
    x, t = saved
    q = _smoothed(x, t)
    return head[:, None] * (jax.nn.softmax(x) * jnp.sum(q, -1, keepdims=True) - q), None


smoothed_cross_entropy.defvjp(lambda x, t: (smoothed_cross_entropy(x, t), (x, t)), _smoothed_backward)


@jax.custom_jvp
def safe_norm(x: Any) -> Any:
    """Length of the rows, with the slope 0 at the origin."""
    return jnp.sqrt(jnp.sum(x * x, -1))


@safe_norm.defjvp
def _safe_norm_forward(given: Any, tangents: Any) -> Any:
    (x,), (dx,) = given, tangents
    y = safe_norm(x)
    return y, jnp.sum(x * dx, -1) / jnp.where(y == 0, 1, y)


@jax.custom_jvp
def swish(x: Any) -> Any:
    """X sigmoid(x), whose slope is s (1 + x (1 - s))."""
    return x * jax.nn.sigmoid(x)


@swish.defjvp
def _swish_forward(given: Any, tangents: Any) -> Any:
    (x,), (dx,) = given, tangents
    s = jax.nn.sigmoid(x)
    return x * s, s * (1 + x * (1 - s)) * dx


@jax.custom_vjp
def fixed_point(a: Any) -> Any:
    """The y with y = tanh(y / 2) + a, whose derivative is 1 / (1 - (1 - tanh^2) / 2): implicit differentiation."""
    return jax.lax.fori_loop(0, 60, _towards_fixed_point, (a, a))[0]


def _towards_fixed_point(_: Any, state: tuple[Any, Any]) -> tuple[Any, Any]:
    y, a = state  # what a new function of each call closed over would be compiled by each call
    return jnp.tanh(y / 2) + a, a


fixed_point.defvjp(
    lambda a: ((y := fixed_point(a)), y), lambda y, head: (head / (1 - (1 - jnp.tanh(y / 2) ** 2) / 2),)
)


TABLE: Final[dict[str, tuple[object, ...]]] = {
    "rms_norm": ("own.rms_norm(x, w)", "x:(N, D), w:(D) -> y:(N, D); N >= 1, D >= 1"),
    **{name: (f"own.{name}(x)", _EACH) for name in ("log1pexp", "swish", "fixed_point")},
    "safe_norm": ("own.safe_norm(x)", "x:(N, D) -> y:(N); D >= 1"),
    "clip_gradient": ("own.clip_gradient(x)", _EACH, Contract(no_numeric_gradient="the gradient is meant to be cut")),
    "straight_through": (
        "own.straight_through_round(x)", _EACH, Contract(no_numeric_gradient="the straight-through estimator passes the gradient on"),
    ),
    **{
        name: (f"own.{name}(x, t)", _LABELED, Contract(inputs={"t": Integers(0, 2)}))
        for name in ("focal_loss", "smoothed_cross_entropy")
    },
}  # fmt: skip
