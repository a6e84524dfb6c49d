"""Attention of queries to keys, `attention`, and to those of a cache, `cached_attention`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from operad_sdk import (
    Array,
    Contract,
    Cost,
    Index,
    OperatorProperty,
    Real,
    Shape,
    Tolerance,
    blocked_sum,
    operator,
    param,
)

_BOUNDED = Real(above=-4, below=4)  # scores have to be in range
_LOWEST = -1e30
"""Below every score; what is left of a row of which nothing is seen."""


_LOOPS_OF_SCORE = 8.0
"""Operations of loops for each score: its softmax, and what is read and written on the way."""


def _cost(query: Shape, value: Shape) -> Cost:
    """Two products for each head, and the softmax between them."""
    scores = prod(query[:3]) * value[2]
    return Cost(_LOOPS_OF_SCORE * scores, single_flops=2.0 * scores * (query[3] + value[3]))


def _grouped(heads: Array, group_size: int) -> Array:
    batch, count, *rest = heads.shape
    return heads.reshape(batch, count // group_size, group_size, *rest)


def _shares(queries: Array, key: Array, length: Array | None, mask: Array | None, causal: bool) -> Array:
    """The softmax of the scores, of (batch, heads of keys, group, queries, keys); 0 where nothing is seen."""
    count, width = key.shape[-2:]
    scores = queries @ key[:, :, None].swapaxes(-1, -2) / width**0.5
    if mask is not None:
        scores = scores + mask
    if causal:
        rows, columns = (np.arange(length, like=key) for length in (scores.shape[-2], count))
        scores = np.where(columns <= rows[:, None] + (count - len(rows)), scores, -np.inf)
    if length is not None:
        scores = np.where(np.arange(count, like=key) < length[:, None, None, None, None], scores, -np.inf)
    powers = np.exp(scores - np.maximum(scores.max(axis=-1, keepdims=True), _LOWEST))
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)


def _spread(mask: Array | None, group_size: int) -> Array | None:
    """The mask by groups of heads, or for all heads."""
    if mask is None:
        return None
    return mask[:, :, None] if mask.shape[1] == 1 else _grouped(mask, group_size)


def _summed(slope: Array, shape: Shape) -> Array:
    """The gradient of a mask of this shape."""
    return blocked_sum(slope, tuple(axis for axis in range(2) if shape[axis] == 1), keepdims=True)


def _of_group(slopes: Array) -> Array:
    """The sum over the heads that share keys and values; of one head no copy."""
    return slopes[:, :, 0] if slopes.shape[2] == 1 else blocked_sum(slopes, 2)


def _one_by_one(
    query: Array, key: Array, value: Array, *given: Array,
    mask_for: str = "none", use_length: bool = False, use_kept: bool = False, causal: bool = False,
    group_size: int = 1,
) -> Array:  # fmt: skip
    """Attention by its definition."""
    every, left = (*query.shape[:3], key.shape[2]), list(given)
    mask = np.broadcast_to(left.pop(0) if mask_for != "none" else 0, every)
    lengths = left.pop(0) if use_length else np.full(len(query), key.shape[2])
    kept = left.pop(0) if use_kept else np.broadcast_to(1, every)
    output = np.zeros((*query.shape[:3], value.shape[3]), query.dtype)
    for batch, head, place in np.ndindex(query.shape[:3]):
        seen = min(key.shape[2], max(int(np.ceil(lengths[batch])), 0))
        if causal:
            seen = min(seen, max(place + 1 + key.shape[2] - query.shape[2], 0))
        keys, values = (array[batch, head // group_size, :seen] for array in (key, value))
        scores = keys @ query[batch, head, place] / np.sqrt(query.shape[3]) + mask[batch, head, place, :seen]
        powers = np.exp(scores - scores.max(initial=-np.inf))
        if seen:
            output[batch, head, place] = (powers * kept[batch, head, place, :seen]) @ values / powers.sum()
    return output


@operator("attention")
class Attention(OperatorProperty):
    """`softmax(query key^T / sqrt(D) + mask) value` of each head; 0 for a query that sees no key.

    Shapes:
        query: (B, H, L, D), with H = G * group_size.
        key: (B, G, T, D).
        value: (B, G, T, V).
        mask: (1, 1, L, T), (1, H, L, T) or (B, H, L, T), where mask_for says so.
        length: (B,), where use_length is set.
        kept: (B, H, L, T), where use_kept is set: factors of the softmax, as Dropout of ones gives them.
        output: (B, H, L, V).

    Example:
        >>> import operad as od
        >>> steps = od.nd.array([[[[1, 0], [0, 2]]]])
        >>> od.nd.attention(steps, steps, steps, causal=True).asnumpy().round(4)
        array([[[[1.    , 0.    ],
                 [0.0558, 1.8884]]]], dtype=float32)

    Source: Vaswani et al., Attention Is All You Need, section 3.2.1; the groups are those of Ainslie et al.,
    GQA, section 2.2.
    """

    causal = param(bool, False, doc="A query sees the keys up to its own; the last one sees all.")
    mask_for = param(
        str, "none", choices=("none", "all", "heads", "items"),
        doc="Use the argument mask, added to the scores: one for all, per head, or per head and item.",
    )  # fmt: skip
    use_length = param(bool, False, doc="Use the argument length, the number of valid keys of each item.")
    group_size = param(int, 1, ge=1, doc="Number of query heads per head of keys and values.")
    use_kept = param(bool, False, doc="Use the argument kept, the factors of the softmax.")

    spec = (
        "query:(B, G*group_size, L, D), key:(B, G, T, D), value:(B, G, T, V),"
        "mask:(B if mask_for == 'items' else 1, 1 if mask_for == 'all' else G*group_size, L, T)"
        " if mask_for != 'none', length:any(B) if use_length, kept:(B, G*group_size, L, T) if use_kept"
        " -> output:(B, G*group_size, L, V); T >= 1, D >= 1"
    )
    accepts = {"query": "floating"}
    compute_dtype = "float32"
    contract = Contract(
        reference=_one_by_one,
        inputs={
            "query": _BOUNDED,
            "key": _BOUNDED,
            "value": _BOUNDED,
            "mask": _BOUNDED,
            "length": Index("key", axis=2, first=1, inclusive=True),
        },
        tolerances={"float32": Tolerance(1e-4, 5e-5, "scores of 20 are 2e-6 off, and slopes cancel")},
    )

    def forward(
        query: Array, key: Array, value: Array, mask: Array | None, length: Array | None, kept: Array | None,
        causal: bool, group_size: int,
    ) -> Array:  # fmt: skip
        """The definition."""
        shares = _shares(_grouped(query, group_size), key, length, _spread(mask, group_size), causal)
        if kept is not None:
            shares = shares * _grouped(kept, group_size)
        return (shares @ value[:, :, None]).reshape(*query.shape[:3], value.shape[3])

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> Cost:
        """Products and softmax of all scores."""
        return _cost(in_shapes[0], in_shapes[2])

    def backward(
        output_grad: Array, query: Array, key: Array, value: Array, mask: Array | None, length: Array | None,
        kept: Array | None, causal: bool, group_size: int, query_grad: Array, key_grad: Array,
        value_grad: Array, mask_grad: Array | None, kept_grad: Array | None,
    ) -> None:  # fmt: skip
        """With `dS = P (dP - sum(dP P))`; of keys and values the sum over those that share them."""
        queries, grads = _grouped(query, group_size), _grouped(output_grad, group_size)
        shares = _shares(queries, key, length, _spread(mask, group_size), causal)
        by_share, used = grads @ value[:, :, None].swapaxes(-1, -2), shares
        if kept is not None and kept_grad is not None:
            kept_grad[...] = (by_share * shares).reshape(kept.shape)
            by_share, used = by_share * _grouped(kept, group_size), shares * _grouped(kept, group_size)
        slope = shares * (by_share - (by_share * shares).sum(axis=-1, keepdims=True))
        scaled = slope / key.shape[-1] ** 0.5
        query_grad[...] = (scaled @ key[:, :, None]).reshape(query.shape)
        key_grad[...] = _of_group(scaled.swapaxes(-1, -2) @ queries)
        value_grad[...] = _of_group(used.swapaxes(-1, -2) @ grads)
        if mask is not None and mask_grad is not None:
            mask_grad[...] = _summed(slope.reshape(*query.shape[:3], key.shape[2]), mask.shape)


def _reference_of_cache(
    query: Array,
    key: Array,
    value: Array,
    offset: Array,
    keys: Array,
    values: Array,
    max_length: int,
    group_size: int,
) -> tuple[Array, Array, Array]:
    start = min(max(int(offset[0]), 0), keys.shape[2] - key.shape[2])
    rows = start + np.arange(key.shape[2])
    keys, values = keys.copy(), values.copy()
    keys[:, :, rows], values[:, :, rows] = key, value
    end = start + len(rows)
    output = _one_by_one(query, keys[:, :, :end], values[:, :, :end], causal=True, group_size=group_size)
    return output, keys, values


@operator("cached_attention")
class CachedAttention(OperatorProperty):
    """Write keys and values to a cache, and attend to all that it holds up to each query.

    Row `i` of key and value becomes row `offset + i` of the cache. Rows behind what was written are not read.
    The output is the last rows of that of `attention` with `causal=True` for all steps so far. The cache is a
    state, so steps of one program write to it in turn, and it has no gradient.

    Shapes:
        query: (B, H, L, D), with H = G * group_size.
        key: (B, G, L, D).
        value: (B, G, L, V).
        offset: (1,), from 0 to max_length - L; others are moved there.
        keys (state): (B, G, max_length, D).
        values (state): (B, G, max_length, V).
        output: (B, H, L, V).

    Example:
        >>> import operad as od
        >>> keys, values = od.nd.zeros((1, 1, 2, 1)), od.nd.zeros((1, 1, 2, 1))
        >>> for place in range(2):
        ...     step = od.nd.array([[[[place + 1]]]])
        ...     seen = od.nd.cached_attention(
        ...         step, step, step, od.nd.array([place]), keys, values, max_length=2
        ...     )
        >>> seen.asnumpy().round(4), keys.asnumpy().ravel()
        (array([[[[1.8808]]]], dtype=float32), array([1., 2.], dtype=float32))

    Source: Pope et al., Efficiently Scaling Transformer Inference, section 2.
    """

    max_length = param(int, ge=1, doc="Number of steps that the cache can hold.")
    group_size = param(int, 1, ge=1, doc="Number of query heads per head of keys and values.")

    spec = (
        "query:(B, G*group_size, L, D), key:(B, G, L, D), value:(B, G, L, V), offset:any(1),"
        "state keys:(B, G, max_length, D), state values:(B, G, max_length, V)"
        " -> output:(B, G*group_size, L, V); L >= 1, D >= 1, max_length >= L"
    )
    accepts = {"query": "floating"}
    compute_dtype = "float32"
    contract = Contract(
        reference=_reference_of_cache,
        states_move="always",
        no_numeric_gradient="it decodes with a trained network, through which nothing is differentiated",
        inputs={"query": _BOUNDED, "key": _BOUNDED, "keys": _BOUNDED, "offset": Index("max_length")},
    )

    def forward(
        query: Array, key: Array, value: Array, offset: Array, keys: Array, values: Array, group_size: int
    ) -> Array:
        """Write, and attend to what is written."""
        start = min(max(int(offset[0]), 0), keys.shape[2] - key.shape[2])
        end = start + key.shape[2]
        keys[:, :, start:end], values[:, :, start:end] = key, value
        (batch, heads, length, width), seen = query.shape, values[:, :, :end]
        if length > 1:
            shares = _shares(_grouped(query, group_size), keys[:, :, :end], None, None, causal=True)
            return (shares @ seen[:, :, None]).reshape(batch, heads, length, value.shape[3])
        # One query sees all that was written, and those of a group are rows.
        queries = query.reshape(batch, heads // group_size, group_size, width) / width**0.5
        scores = queries @ keys[:, :, :end].swapaxes(2, 3)
        powers = np.exp(scores - scores.max(axis=3, keepdims=True))
        total = powers.sum(axis=3, keepdims=True)
        return (powers @ seen / total).reshape(batch, heads, 1, value.shape[3])

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> Cost:
        """Products and softmax of half of the scores: how many there are, the offset says."""
        query, _, value, *_ = in_shapes
        return _cost(query, (*value[:2], self.max_length // 2, value[3]))
