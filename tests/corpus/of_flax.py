"""Functions and layers of flax, layers with weights as arguments or with those they start with."""

from __future__ import annotations

from typing import Final

PROGRAM: Final = ("import flax.linen as nn",)
_EACH: Final = "x:(...) -> y:(...)"
_ALONG: Final = "x:(N, D), w:(D), b:(D) -> y:(N, D); N >= 1, D >= 2"
_HEADS: Final = (
    "q:(N, T, 2, D), k:(N, S, 2, D), v:(N, S, 2, D) -> y:(N, T, 2, D); N >= 1, T >= 1, S >= 1, D >= 1"
)
_IMAGE: Final = "x:(N, 2*H, 2*W, C) -> y:(N, H, W, C); N >= 1, C >= 1, H >= 1, W >= 1"
_WEIGHTS: Final = "{'params': {'scale': w, 'bias': b}}"
_ACTIVATIONS: Final = "celu hard_sigmoid hard_silu hard_tanh leaky_relu log_sigmoid selu soft_sign swish"

TABLE: Final[dict[str, tuple[object, ...]]] = {
    **{name: (f"nn.{name}(x)", _EACH) for name in _ACTIVATIONS.split()},
    "glu": ("nn.glu(x)", "x:(N, 2*D) -> y:(N, D)"),
    "one_sided_prelu": ("nn.PReLU().apply({'params': {'negative_slope': a}}, x)", "a:(), x:(...) -> y:(...)"),
    "layer_norm": (f"nn.LayerNorm().apply({_WEIGHTS}, x)", _ALONG),
    "layer_norm_two_pass": (f"nn.LayerNorm(use_fast_variance=False).apply({_WEIGHTS}, x)", _ALONG),
    "rms_norm": ("nn.RMSNorm().apply({'params': {'scale': w}}, x)", "x:(N, D), w:(D) -> y:(N, D); N >= 1, D >= 1"),
    "group_norm": (
        f"nn.GroupNorm(num_groups=2).apply({_WEIGHTS}, x)",
        "x:(N, H, 4), w:(4), b:(4) -> y:(N, H, 4); N >= 1, H >= 1",
    ),
    "instance_norm": (
        f"nn.InstanceNorm().apply({_WEIGHTS}, x)", "x:(N, H, K), w:(K), b:(K) -> y:(N, H, K); N >= 1, K >= 1, H >= 2",
    ),
    "dense": (
        "nn.Dense(b.shape[0]).apply({'params': {'kernel': w, 'bias': b}}, x)",
        "x:(N, D), w:(D, O), b:(O) -> y:(N, O); N >= 1, D >= 1, O >= 1",
    ),
    "conv": (
        "nn.Conv(b.shape[0], (3,)).apply({'params': {'kernel': w, 'bias': b}}, x)",
        "x:(N, W, K), w:(3, K, O), b:(O) -> y:(N, W, O); N >= 1, W >= 1, K >= 1, O >= 1",
    ),
    "embed": ("nn.Embed(3, w.shape[1]).apply({'params': {'embedding': w}}, jnp.array([0, 2, 2]))", "w:(3, D) -> y:(3, D); D >= 1"),
    "avg_pool": ("nn.avg_pool(x, (2, 2), strides=(2, 2))", _IMAGE),
    "max_pool": ("nn.max_pool(x, (2, 2), strides=(2, 2))", _IMAGE),
    "attention": ("nn.dot_product_attention(q, k, v)", _HEADS),
    "attention_weights": (
        "nn.dot_product_attention_weights(q, k)",
        "q:(N, T, 2, D), k:(N, S, 2, D) -> y:(N, 2, T, S); N >= 1, T >= 1, S >= 1, D >= 1",
    ),
}  # fmt: skip
