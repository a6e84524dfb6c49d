"""Calls whose second derivatives PyTorch has recorded, and what both libraries compute of them.

A case is one expression of operators, of arrays that follow from their shapes, and the same for PyTorch.
Compared is the gradient of a sum of gradients, each element with a weight of its own.
`record_second_derivatives.py` writes the record. This file imports neither library.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

RECORD: Final = Path(__file__).with_name("second_derivatives.json")


class Case(NamedTuple):
    """One expression.

    Attributes:
        call: Of `F`, which is `od.nd` or `od.sym`, of the arrays by name and of `s`, the constants.
        peer: Of `torch`, of its functions `f`, and of the same arrays.
        arrays: Shapes of the arrays that are differentiated.
        constants: Values of those that are not.
        is_train: Whether this is a training run.
        is_bound: Whether a symbol of it can be bound.
    """

    call: str
    peer: str
    arrays: Mapping[str, tuple[int, ...]]
    constants: Mapping[str, Any] = {}
    is_train: bool = True
    is_bound: bool = True


def values(shape: tuple[int, ...], number: int) -> Any:
    """Numbers between -1 and 1 in no order, without ties."""
    position = np.arange(prod(shape))
    return np.sin(position * position * 0.7 + position * (1.3 + 0.17 * number) + 0.3 * number + 0.1).reshape(
        shape
    )


def recorded() -> dict[str, dict[str, list[float]]]:
    """For each case, by name, the second derivatives of each array."""
    found: dict[str, dict[str, list[float]]] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


_STATES = {"moving_mean": [0.2, -0.1, 0.3], "moving_var": [0.5, 1.5, 0.8]}
_NORM = {"data": (3, 3, 4), "gamma": (3,), "beta": (3,)}
_BATCH_NORM = "F.BatchNorm(data, gamma, beta, moving_mean, moving_var, eps=0.01, fix_gamma=False{}) ** 2"
_PREDICTED = "f.batch_norm(data, moving_mean, moving_var, gamma, beta, False, 0.1, 0.01) ** 2"
_EYE = np.eye(3).tolist()
_SPD = "F.broadcast_add(F.dot(a, a, transpose_b=True), eye)"
_IMAGE = {"data": (2, 2, 4, 3), "weight": (2, 2, 2, 2)}
_TENTS = "torch.einsum('nchw,nijh,nijw->ncij', data, tent(grid[:, 1], 4), tent(grid[:, 0], 3)) ** 2"

CASES: Final[dict[str, Case]] = {
    "Convolution, 1 axis": Case(
        "F.Convolution(data, weight, bias, kernel=(3,), num_filter=2, pad=(1,)) ** 2",
        "f.conv1d(data, weight, bias, padding=1) ** 2",
        {"data": (2, 2, 5), "weight": (2, 2, 3), "bias": (2,)},
    ),
    "Convolution, stride, dilate, groups": Case(
        "F.Convolution(data, weight, bias, kernel=(2, 2), num_filter=4, num_group=2, stride=(2, 1), "
        "dilate=(1, 2), pad=(1, 1)) ** 2",
        "f.conv2d(data, weight, bias, stride=(2, 1), dilation=(1, 2), padding=(1, 1), groups=2) ** 2",
        {"data": (2, 4, 4, 3), "weight": (4, 2, 2, 2), "bias": (4,)},
    ),
    "Convolution, 3 axes": Case(
        "F.Convolution(data, weight, kernel=(2, 1, 2), num_filter=2, no_bias=True) ** 2",
        "f.conv3d(data, weight) ** 2",
        {"data": (1, 2, 3, 2, 3), "weight": (2, 2, 2, 1, 2)},
    ),
    "Convolution, alone": Case(
        "F.Convolution(data, weight, kernel=(2, 2), num_filter=2, no_bias=True)",
        "f.conv2d(data, weight)",
        _IMAGE,
    ),
    "Deconvolution": Case(
        "F.Deconvolution(data, weight, bias, kernel=(2, 2), num_filter=2, stride=(2, 2), pad=(1, 0), "
        "adj=(1, 0), no_bias=False) ** 2",
        "f.conv_transpose2d(data, weight, bias, stride=2, padding=(1, 0), output_padding=(1, 0)) ** 2",
        {**_IMAGE, "bias": (2,)},
    ),
    "Deconvolution, groups": Case(
        "F.Deconvolution(data, weight, kernel=(2, 2), num_filter=2, num_group=2) ** 2",
        "f.conv_transpose2d(data, weight, groups=2) ** 2",
        {"data": (2, 2, 3, 2), "weight": (2, 1, 2, 2)},
    ),
    "BatchNorm, training": Case(
        _BATCH_NORM.format(""),
        "f.batch_norm(data, None, None, gamma, beta, True, 0.1, 0.01) ** 2",
        _NORM,
        _STATES,
    ),
    "BatchNorm, prediction": Case(_BATCH_NORM.format(""), _PREDICTED, _NORM, _STATES, is_train=False),
    "BatchNorm, global statistics": Case(
        _BATCH_NORM.format(", use_global_stats=True"), _PREDICTED, _NORM, _STATES
    ),
    "BatchNorm, fixed gamma": Case(
        "F.BatchNorm(data, gamma, beta, moving_mean, moving_var, eps=0.01) ** 2",
        "f.batch_norm(data, None, None, 0 * gamma + 1, beta, True, 0.1, 0.01) ** 2 + 0 * gamma.sum()",
        _NORM,
        _STATES,
    ),
    "LayerNorm": Case(
        "F.LayerNorm(data, gamma, beta) ** 2",
        "f.layer_norm(data, (3,), gamma, beta) ** 2",
        {"data": (4, 2, 3), "gamma": (3,), "beta": (3,)},
    ),
    "GroupNorm": Case(
        "F.GroupNorm(data, gamma, beta, num_groups=2) ** 2",
        "(f.group_norm(data, 2) * gamma.repeat_interleave(2)[:, None] + "
        "beta.repeat_interleave(2)[:, None]) ** 2",
        {"data": (3, 4, 3), "gamma": (2,), "beta": (2,)},
    ),
    "InstanceNorm": Case(
        "F.InstanceNorm(data, gamma, beta, eps=0.001) ** 2",
        "f.instance_norm(data, weight=gamma, bias=beta, eps=0.001) ** 2",
        _NORM,
    ),
    "L2Normalization, instance": Case(
        "F.L2Normalization(data, eps=0.001)",
        "data / (data.square().sum((1, 2), keepdim=True) + 0.001).sqrt()",
        {"data": (3, 2, 3)},
    ),
    "L2Normalization, channel": Case(
        "F.L2Normalization(data, mode='channel', eps=0)", "f.normalize(data, dim=1)", {"data": (2, 3, 4)}
    ),
    "LRN": Case(
        "F.LRN(data, nsize=3, alpha=0.5, beta=0.75, knorm=2)",
        "f.local_response_norm(data, 3, 0.5, 0.75, 2.0)",
        {"data": (2, 5, 3)},
    ),
    "linalg_potrf": Case(
        f"F.linalg_potrf({_SPD}) ** 2",
        "torch.linalg.cholesky(a @ a.T + eye) ** 2",
        {"a": (3, 3)},
        {"eye": _EYE},
    ),
    "linalg_potri": Case(
        f"F.linalg_potri(F.linalg_potrf({_SPD}))",
        "torch.linalg.inv(a @ a.T + eye)",
        {"a": (3, 3)},
        {"eye": _EYE},
    ),
    "linalg_det": Case("F.linalg_det(a)", "torch.linalg.det(a)", {"a": (2, 3, 3)}),
    "linalg_slogdet": Case("F.linalg_slogdet(a)[1]", "torch.linalg.slogdet(a)[1]", {"a": (2, 3, 3)}),
    "linalg_inverse": Case("F.linalg_inverse(a)", "torch.linalg.inv(a)", {"a": (2, 3, 3)}),
    "linalg_trsm": Case(
        "F.linalg_trsm(a, b) ** 2",
        "torch.linalg.solve_triangular(torch.tril(a), b, upper=False) ** 2",
        {"a": (3, 3), "b": (3, 2)},
    ),
    "_contrib_fft": Case(
        "F._contrib_fft(data) ** 2",
        "torch.view_as_real(torch.fft.fft(data)).flatten(-2) ** 2",
        {"data": (2, 6)},
    ),
    "_contrib_ifft": Case(
        "F._contrib_ifft(data) ** 2",
        "torch.fft.ifft(torch.view_as_complex(data.reshape(2, 3, 2)), norm='forward').real ** 2",
        {"data": (2, 6)},
    ),
    "BilinearSampler": Case(
        "F.BilinearSampler(data, grid) ** 2", _TENTS, {"data": (2, 2, 4, 3), "grid": (2, 2, 2, 3)}
    ),
    "SpatialTransformer": Case(
        "F.SpatialTransformer(data, loc, target_shape=(2, 3), transform_type='affine', "
        "sampler_type='bilinear') ** 2",
        f"[{_TENTS} for grid in [f.affine_grid(loc.reshape(2, 2, 3), (2, 2, 2, 3), align_corners=True)"
        ".permute(0, 3, 1, 2)]][0]",
        {"data": (2, 2, 4, 3), "loc": (2, 6)},
    ),
    "_contrib_boolean_mask": Case(
        "F._contrib_boolean_mask(data, index) ** 3",
        "data[index != 0] ** 3",
        {"data": (4, 3)},
        {"index": [1.0, 0.0, 1.0, 1.0]},
        is_bound=False,
    ),
    "Pooling, max": Case(
        "F.Pooling(data, kernel=(2, 2), stride=(1, 2), pool_type='max') ** 3",
        "f.max_pool2d(data, 2, (1, 2)) ** 3",
        {"data": (2, 2, 4, 4)},
    ),
    "Pooling, average": Case(
        "F.Pooling(data, kernel=(2, 2), stride=(2, 2), pad=(1, 1), pool_type='avg') ** 3",
        "f.avg_pool2d(data, 2, 2, 1) ** 3",
        {"data": (2, 2, 4, 4)},
    ),
    "FullyConnected": Case(
        "F.FullyConnected(data, weight, bias, num_hidden=3) ** 2",
        "f.linear(data.flatten(1), weight, bias) ** 2",
        {"data": (2, 2, 3), "weight": (3, 6), "bias": (3,)},
    ),
    "Activation": Case(
        "F.Activation(data, act_type='tanh') * F.Activation(data, act_type='sigmoid') + "
        "F.Activation(data, act_type='softrelu') * F.Activation(data, act_type='softsign')",
        "torch.tanh(data) * torch.sigmoid(data) + f.softplus(data) * f.softsign(data)",
        {"data": (3, 4)},
    ),
    "LeakyReLU": Case(
        "F.LeakyReLU(data, slope=0.2) ** 2 + F.LeakyReLU(data, act_type='elu', slope=0.5) + "
        "F.LeakyReLU(data, act_type='gelu') + F.LeakyReLU(data, act_type='selu')",
        "f.leaky_relu(data, 0.2) ** 2 + f.elu(data, 0.5) + f.gelu(data) + f.selu(data)",
        {"data": (3, 4)},
    ),
    "LeakyReLU, prelu": Case(
        "F.LeakyReLU(data, gamma, act_type='prelu') ** 2",
        "f.prelu(data, gamma) ** 2",
        {"data": (3, 4), "gamma": (4,)},
    ),
    "softmax": Case(
        "F.softmax(data) * F.log_softmax(data, axis=0)",
        "torch.softmax(data, -1) * torch.log_softmax(data, 0)",
        {"data": (3, 4)},
    ),
    "UpSampling, nearest": Case(
        "F.UpSampling(data, scale=2, sample_type='nearest') ** 3",
        "f.interpolate(data, scale_factor=2) ** 3",
        {"data": (1, 2, 2, 3)},
    ),
    "UpSampling, bilinear": Case(
        "F.UpSampling(data, weight, scale=2, sample_type='bilinear', num_filter=2, num_args=2) ** 2",
        "f.conv_transpose2d(data, weight, stride=2, padding=1, groups=2) ** 2",
        {"data": (1, 2, 2, 3), "weight": (2, 1, 4, 4)},
    ),
    "Embedding": Case(
        "F.Embedding(index, weight, input_dim=4, output_dim=3) ** 3",
        "f.embedding(index.long(), weight) ** 3",
        {"weight": (4, 3)},
        {"index": [2.0, 0.0, 2.0]},
    ),
    "Concat": Case(
        "F.Concat(a, b * b, dim=1) ** 2", "torch.cat([a, b * b], 1) ** 2", {"a": (2, 2), "b": (2, 3)}
    ),
    "RNN, lstm": Case(
        "F.RNN(data, parameters, state, cell, mode='lstm', state_size=2, num_layers=1) ** 2",
        "lstm(data, parameters, state, cell) ** 2",
        {"data": (3, 2, 2), "parameters": (48,), "state": (1, 2, 2), "cell": (1, 2, 2)},
    ),
}


def _case(call: str, peer: str, constants: Mapping[str, Any] = {}, **arrays: tuple[int, ...]) -> Case:
    return Case(call, peer, arrays, constants)


_AB = {"a": (3, 4), "b": (3, 4)}
CASES.update({
    "arctan2, logaddexp, fmod, copysign": _case(
        "F.arctan2(a, b) ** 2 + F.logaddexp(a, b) ** 2 + F.fmod(a, b) ** 3 + F.copysign(a, b) ** 3",
        "torch.atan2(a, b) ** 2 + torch.logaddexp(a, b) ** 2 + torch.fmod(a, b) ** 3 + "
        "torch.copysign(a, b) ** 3",
        **_AB,
    ),
    "mish, hard_swish, erfc, exp2, digamma": _case(
        "F.mish(a) + F.hard_swish(a) ** 2 + F.erfc(a) + F.exp2(a) + F.digamma(a + 2)",
        "f.mish(a) + f.hardswish(a) ** 2 + torch.special.erfc(a) + torch.exp2(a) + torch.digamma(a + 2)",
        a=(3, 4),
    ),
    "logsumexp, var, std": _case(
        "F.logsumexp(a, axis=1) ** 2 + F.variance(a, axis=1, ddof=1) ** 2 + F.std(a, axis=1)",
        "torch.logsumexp(a, 1) ** 2 + torch.var(a, 1) ** 2 + torch.std(a, 1, correction=0)", a=(3, 4),
    ),
    "median, quantile": _case(
        "F.median(a, axis=1) ** 2 + F.quantile(a, q=0.3, axis=1) ** 3",
        "torch.quantile(a, 0.5, 1) ** 2 + torch.quantile(a, 0.3, 1) ** 3", a=(3, 4),
    ),
    "cumprod, cummax, cummin": _case(
        "F.cumprod(a, axis=1) ** 2 + F.cummax(a, axis=0) ** 3 + F.cummin(a, axis=1) ** 2",
        "torch.cumprod(a, 1) ** 2 + torch.cummax(a, 0)[0] ** 3 + torch.cummin(a, 1)[0] ** 2", a=(3, 4),
    ),
    "matmul": _case("F.matmul(a, b) ** 2", "torch.matmul(a, b) ** 2", a=(2, 1, 3, 4), b=(3, 4, 2)),
    "tensordot": _case(
        "F.tensordot(a, b, a_axes_summed=(0,), b_axes_summed=(0,)) ** 2",
        "torch.tensordot(a, b, ([0], [0])) ** 2", **_AB,
    ),
    "outer": _case("F.outer(a, b) ** 2", "torch.outer(a.flatten(), b.flatten()) ** 2", **_AB),
    "kron": _case("F.kron(a, b) ** 2", "torch.kron(a, b) ** 2", a=(2, 3), b=(2, 2)),
    "einsum of three": _case(
        "F.einsum(a, b, c, subscripts='ij,jk,kl->il') ** 2", "torch.einsum('ij,jk,kl->il', a, b, c) ** 2",
        a=(2, 3), b=(3, 4), c=(4, 2),
    ),
    "einsum of a diagonal and a sum": _case(
        "F.einsum(a, b, subscripts='iik,jk->ij') ** 3", "torch.einsum('iik,jk->ij', a, b) ** 3",
        a=(3, 3, 2), b=(4, 2),
    ),
    "cross, trace": _case(
        "F.broadcast_add(F.cross(a, b) ** 2, F.trace(a) ** 3)",
        "torch.linalg.cross(a, b) ** 2 + torch.trace(a) ** 3", a=(2, 3), b=(2, 3),
    ),
    "roll, tril, triu": _case(
        "F.roll(a, shift=(1, -2), axis=(0, 1)) ** 3 + F.tril(a, k=1) ** 2 + F.triu(a) ** 3",
        "torch.roll(a, (1, -2), (0, 1)) ** 3 + torch.tril(a, 1) ** 2 + torch.triu(a) ** 3", a=(3, 4),
    ),
    "take_along_axis": _case(
        "F.take_along_axis(a, index, axis=1) ** 3", "torch.gather(a, 1, index.long()) ** 3",
        {"index": [[0.0, 2.0, 2.0], [1.0, 1.0, 3.0], [0.0, 1.0, 2.0]]}, a=(3, 4),
    ),
    "put_along_axis, add": _case(
        "F.put_along_axis(a, index, b, axis=1, mode='add') ** 3",
        "torch.scatter_add(a, 1, index.long(), b) ** 3", {"index": [[0.0, 2.0], [1.0, 1.0], [3.0, 3.0]]},
        a=(3, 4), b=(3, 2),
    ),
    "put_along_axis, set": _case(
        "F.put_along_axis(a, index, b, axis=1) ** 3", "torch.scatter(a, 1, index.long(), b) ** 3",
        {"index": [[0.0, 2.0], [1.0, 2.0], [3.0, 0.0]]}, a=(3, 4), b=(3, 2),
    ),
    "bce_with_logits": _case(
        "F.bce_with_logits(a, b) ** 2",
        "f.binary_cross_entropy_with_logits(a, b, reduction='none') ** 2", **_AB,
    ),
    "nll_loss": Case(
        "F.nll_loss(F.log_softmax(a), F.cast(label, dtype='int64')) ** 2",
        "f.nll_loss(torch.log_softmax(a, 1), label.long(), reduction='none') ** 2",
        {"a": (3, 4)}, {"label": [2.0, 0.0, -100.0]},
    ),
    "cosine_distance": _case(
        "F.cosine_distance(a, b) ** 2", "(1 - torch.cosine_similarity(a, b, 1, 0)) ** 2", **_AB,
    ),
    "cdist": _case(
        "F.cdist(a, b) ** 3 + F.cdist(a, b, p=3)",
        "sum((a[:, None] - b).abs().pow(p).sum(-1).pow(1 / p) ** q for p, q in ((2, 3), (3, 1)))",
        a=(3, 4), b=(2, 4),
    ),
})  # fmt: skip
