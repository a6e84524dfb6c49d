"""Functions of PyTorch: by name an expression, a shape line, and domains of arguments where not every number will do."""

from __future__ import annotations

from typing import Final

from operad_sdk import Contract, PositiveDefinite, positive, unit_interval

_EACH: Final = "x:(...) -> y:(...)"
_TWO: Final = "a:(...), b:(...) -> y:(...)"
_ROWS: Final = "x:(N, D) -> y:(N); D >= 1"
_ALONG: Final = "x:(N, D) -> y:(N, D)"
_MATRIX: Final = "x:(N, K, K) -> y:(N, K, K); K >= 1"
_NUMBER: Final = "x:(N, K, K) -> y:(N); K >= 1"
_PAIRS: Final = "a:(B, N, D), b:(B, M, D) -> y:(B, N, M); D >= 1"
_GRID: Final = "x:(N, C, H, W), g:(N, P, Q, 2) -> y:(N, C, P, Q); H >= 1, W >= 1"
_POOLED: Final = "x:(N, C, 2*W) -> y:(N, C, W); N >= 1, C >= 1, W >= 1"

_POSITIVE: Final = Contract(inputs={"x": positive()})
_UNIT: Final = Contract(inputs={"x": unit_interval()})
_DEFINITE: Final = Contract(inputs={"x": PositiveDefinite()})
_TARGETS: Final = Contract(inputs={"b": unit_interval()})
_BOTH_UNIT: Final = Contract(inputs={"a": unit_interval(), "b": unit_interval()})
_FIRST_POSITIVE: Final = Contract(inputs={"a": positive()})


def _elementwise() -> dict[str, tuple[object, ...]]:
    names = (
        "abs acos acosh asin asinh atan atanh ceil cos cosh deg2rad digamma erf erfc exp exp2 expm1 floor frac "
        "lgamma neg positive rad2deg round sigmoid sign sin sinc sinh sqrt square tan tanh trunc i0 sgn"
    )
    found: dict[str, tuple[object, ...]] = {name: (f"torch.{name}(x)", _EACH) for name in names.split()}
    found |= {
        name: (f"torch.{name}(x)", _EACH, _POSITIVE)
        for name in ["log", "log10", "log1p", "log2", "reciprocal", "rsqrt"]
    }
    special = "bessel_j0 bessel_j1 bessel_y0 erfcx i0e i1 i1e log_ndtr ndtr spherical_bessel_j0"
    found |= {name: (f"torch.special.{name}(x)", _EACH) for name in special.split()}
    functional = (
        "celu elu gelu hardshrink hardsigmoid hardswish hardtanh leaky_relu logsigmoid mish relu relu6 selu silu "
        "softplus softshrink softsign tanhshrink"
    )
    found |= {name: (f"F.{name}(x)", _EACH) for name in functional.split()}
    two = (
        "add atan2 copysign fmax fmin fmod hypot logaddexp logaddexp2 maximum minimum mul remainder sub xlogy"
    )
    found |= {name: (f"torch.{name}(a, b)", _TWO) for name in two.split()}
    return found


TABLE: Final[dict[str, tuple[object, ...]]] = {
    **_elementwise(),
    "nan_to_num": ("torch.nan_to_num(x)", _EACH, Contract(nan_policy="replacing NaN is what it is for")),
    "erfinv": ("torch.erfinv(x * 0.4)", _EACH),
    "entr": ("torch.special.entr(x)", _EACH, _POSITIVE),
    "logit": ("torch.logit(x)", _EACH, _UNIT),
    "ndtri": ("torch.special.ndtri(x)", _EACH, _UNIT),
    "polygamma1": ("torch.polygamma(1, x)", _EACH, _POSITIVE),
    "gelu_tanh": ("F.gelu(x, approximate='tanh')", _EACH),
    "clamp": ("torch.clamp(x, -1, 1)", _EACH),
    "div": ("torch.div(a, b)", _TWO, _TARGETS),
    "pow": ("torch.pow(a, b)", _TWO, _FIRST_POSITIVE),
    "lerp": ("torch.lerp(a, b, 0.25)", _TWO),
    "addcmul": ("torch.addcmul(a, b, c)", "a:(...), b:(...), c:(...) -> y:(...)"),
    "where_sqrt": ("torch.where(x > 0, torch.sqrt(x), 0.0)", _EACH),
    # reductions
    "sum": ("torch.sum(x, -1)", _ROWS), "mean": ("torch.mean(x, -1)", _ROWS), "prod": ("torch.prod(x, -1)", _ROWS),
    "amax": ("torch.amax(x, -1)", _ROWS), "amin": ("torch.amin(x, -1)", _ROWS), "max": ("torch.max(x, -1).values", _ROWS),
    "min": ("torch.min(x, -1).values", _ROWS), "median": ("torch.median(x, -1).values", _ROWS),
    "nanmedian": ("torch.nanmedian(x, -1).values", _ROWS), "mode": ("torch.mode(x, -1).values", _ROWS),
    "kthvalue": ("torch.kthvalue(x, 1, -1).values", _ROWS), "quantile": ("torch.quantile(x, 0.3, dim=-1)", _ROWS),
    "nansum": ("torch.nansum(x, -1)", _ROWS), "nanmean": ("torch.nanmean(x, -1)", _ROWS),
    "logsumexp": ("torch.logsumexp(x, -1)", _ROWS), "aminmax": ("torch.aminmax(x, dim=-1).max", _ROWS),
    "var": ("torch.var(x, -1)", "x:(N, D) -> y:(N); D >= 2"), "var0": ("torch.var(x, -1, correction=0)", _ROWS),
    "std": ("torch.std(x, -1)", "x:(N, D) -> y:(N); D >= 2"), "trapezoid": ("torch.trapezoid(x, dim=-1)", _ROWS),
    "norm1": ("torch.linalg.vector_norm(x, 1, dim=-1)", _ROWS), "norm2": ("torch.linalg.vector_norm(x, 2, dim=-1)", _ROWS),
    "norm3": ("torch.linalg.vector_norm(x, 3, dim=-1)", _ROWS), "norm_half": ("torch.linalg.vector_norm(x, 0.5, dim=-1)", _ROWS),
    "norm_inf": ("torch.linalg.vector_norm(x, math.inf, dim=-1)", _ROWS),
    # along an axis
    "cumsum": ("torch.cumsum(x, -1)", _ALONG), "cumprod": ("torch.cumprod(x, -1)", _ALONG),
    "cummax": ("torch.cummax(x, -1).values", _ALONG), "cummin": ("torch.cummin(x, -1).values", _ALONG),
    "logcumsumexp": ("torch.logcumsumexp(x, -1)", _ALONG), "sort": ("torch.sort(x, -1).values", _ALONG),
    "flip": ("torch.flip(x, (-1,))", _ALONG), "roll": ("torch.roll(x, 1, -1)", _ALONG), "renorm": ("torch.renorm(x, 2, 0, 1.0)", _ALONG),
    "softmax": ("torch.softmax(x, -1)", _ALONG), "log_softmax": ("torch.log_softmax(x, -1)", _ALONG),
    "softmin": ("F.softmin(x, -1)", _ALONG), "normalize": ("F.normalize(x, dim=-1)", _ALONG),
    "tril": ("torch.tril(x)", _ALONG), "diff": ("torch.diff(x)", "x:(N, D + 1) -> y:(N, D)"), "glu": ("F.glu(x)", "x:(N, 2*D) -> y:(N, D)"),
    "topk": ("torch.topk(x, 1, -1).values", "x:(N, D) -> y:(N, 1); D >= 1"), "cov": ("torch.cov(x)", "x:(N, D) -> y:(N, N); N >= 2, D >= 2"),
    "masked_softmax": (
        "torch.softmax(torch.where(m > 0, x, -math.inf), -1)", "x:(N, D), m:(N, D) -> y:(N, D)",
        Contract(undefined="a row with everything masked has no softmax"),
    ),
    # distances and losses
    "cdist1": ("torch.cdist(a, b, 1.0)", _PAIRS), "cdist15": ("torch.cdist(a, b, 1.5)", _PAIRS),
    "cdist2": ("torch.cdist(a, b, 2.0, compute_mode='donot_use_mm_for_euclid_dist')", _PAIRS),
    "cdist2mm": ("torch.cdist(a, b, 2.0, compute_mode='use_mm_for_euclid_dist')", _PAIRS),
    "cdist_inf": ("torch.cdist(a, b, math.inf)", _PAIRS), "pdist": ("F.pdist(x)", "x:(4, D) -> y:(6); D >= 1"),
    "cosine_similarity": ("F.cosine_similarity(a, b, -1)", "a:(N, D), b:(N, D) -> y:(N)"),
    "pairwise_distance": ("F.pairwise_distance(a, b)", "a:(N, D), b:(N, D) -> y:(N)"),
    "smooth_l1": ("F.smooth_l1_loss(a, b, reduction='none')", _TWO), "smooth_l1_0": ("F.smooth_l1_loss(a, b, reduction='none', beta=0.0)", _TWO),
    "huber": ("F.huber_loss(a, b, reduction='none')", _TWO), "mse": ("F.mse_loss(a, b)", "a:(N, D), b:(N, D) -> y:(); N >= 1, D >= 1"),
    "l1": ("F.l1_loss(a, b, reduction='none')", _TWO), "kl_div": ("F.kl_div(a, b, reduction='none')", _TWO, _TARGETS),
    "bce": ("F.binary_cross_entropy(a, b, reduction='none')", _TWO, _BOTH_UNIT),
    "bce_logits": ("F.binary_cross_entropy_with_logits(a, b, reduction='none')", _TWO, _TARGETS),
    "poisson_nll": ("F.poisson_nll_loss(a, b, reduction='none', log_input=False)", _TWO, _FIRST_POSITIVE),
    "gaussian_nll": (
        "F.gaussian_nll_loss(a, b, v, reduction='none')", "a:(...), b:(...), v:(...) -> y:(...)",
        Contract(inputs={"v": positive()}),
    ),
    "hinge_embedding": ("F.hinge_embedding_loss(a, b, reduction='none')", _TWO),
    "soft_margin": ("F.soft_margin_loss(a, b, reduction='none')", _TWO),
    "cross_entropy": ("F.cross_entropy(a, b, reduction='none')", "a:(N, D), b:(N, D) -> y:(N); D >= 1"),
    "triplet": ("F.triplet_margin_loss(a, p, n, reduction='none')", "a:(N, D), p:(N, D), n:(N, D) -> y:(N); D >= 1"),
    # layers
    "linear": ("F.linear(x, w, b)", "x:(N, D), w:(O, D), b:(O) -> y:(N, O)"),
    "bilinear": ("F.bilinear(a, b, w)", "a:(N, I), b:(N, J), w:(O, I, J) -> y:(N, O); N >= 1, I >= 1, J >= 1, O >= 1"),
    "conv1d": ("F.conv1d(x, w, padding=1)", "x:(N, K, W), w:(O, K, 3) -> y:(N, O, W); N >= 1, K >= 1, W >= 1, O >= 1"),
    "conv2d": ("F.conv2d(x, w, padding=1)", "x:(N, K, H, W), w:(O, K, 3, 3) -> y:(N, O, H, W); N >= 1, K >= 1, H >= 1, W >= 1, O >= 1"),
    "conv_transpose1d": ("F.conv_transpose1d(x, w)", "x:(N, K, W), w:(K, O, 3) -> y:(N, O, W + 2); N >= 1, K >= 1, W >= 1, O >= 1"),
    "max_pool1d": ("F.max_pool1d(x, 2)", _POOLED), "avg_pool1d": ("F.avg_pool1d(x, 2)", _POOLED), "lp_pool2": ("F.lp_pool1d(x, 2, 2)", _POOLED),
    "lp_pool3": ("F.lp_pool1d(x, 3, 2)", _POOLED), "max_pool2d": ("F.max_pool2d(x, 2)", "x:(N, C, 2*H, 2*W) -> y:(N, C, H, W); N >= 1, C >= 1, H >= 1, W >= 1"),
    "avg_pool2d": ("F.avg_pool2d(x, 2)", "x:(N, C, 2*H, 2*W) -> y:(N, C, H, W); N >= 1, C >= 1, H >= 1, W >= 1"),
    "adaptive_max1d": ("F.adaptive_max_pool1d(x, 2)", "x:(N, C, W) -> y:(N, C, 2); C >= 1, W >= 1"),
    "adaptive_avg2d": ("F.adaptive_avg_pool2d(x, 2)", "x:(N, C, H, W) -> y:(N, C, 2, 2); C >= 1, H >= 1, W >= 1"),
    "interp_linear": ("F.interpolate(x, scale_factor=2, mode='linear')", "x:(N, C, W) -> y:(N, C, 2*W); C >= 1, W >= 1"),
    "interp_corners": ("F.interpolate(x, size=5, mode='linear', align_corners=True)", "x:(N, C, W) -> y:(N, C, 5); C >= 1, W >= 1"),
    "interp_bicubic": ("F.interpolate(x, scale_factor=2, mode='bicubic')", "x:(N, C, H, W) -> y:(N, C, 2*H, 2*W); C >= 1, H >= 1, W >= 1"),
    "interp_nearest": ("F.interpolate(x, size=3, mode='nearest-exact')", "x:(N, C, W) -> y:(N, C, 3); C >= 1, W >= 1"),
    "interp_antialias": ("F.interpolate(x, size=(2, 2), mode='bilinear', antialias=True)", "x:(N, C, H, W) -> y:(N, C, 2, 2); C >= 1, H >= 1, W >= 1"),
    "grid_sample": ("F.grid_sample(x, g, align_corners=False)", _GRID),
    "grid_sample_border": ("F.grid_sample(x, g, padding_mode='border', align_corners=True)", _GRID),
    "grid_sample_reflect": ("F.grid_sample(x, g, padding_mode='reflection', align_corners=False)", _GRID),
    "grid_sample_bicubic": ("F.grid_sample(x, g, mode='bicubic', align_corners=False)", _GRID),
    "layer_norm": ("F.layer_norm(x, (x.shape[-1],), w, b)", "x:(N, D), w:(D), b:(D) -> y:(N, D); D >= 1"),
    "rms_norm": ("F.rms_norm(x, (x.shape[-1],), w)", "x:(N, D), w:(D) -> y:(N, D); D >= 1"),
    "group_norm": ("F.group_norm(x, 2)", "x:(N, 2*G, W) -> y:(N, 2*G, W); G >= 1, W >= 2"),
    "batch_norm": ("F.batch_norm(x, None, None, w, b, True)", "x:(N, K, W), w:(K), b:(K) -> y:(N, K, W); N >= 2, W >= 1"),
    "instance_norm": ("F.instance_norm(x)", "x:(N, K, W) -> y:(N, K, W); N >= 1, K >= 1, W >= 2"),
    "lrn": ("F.local_response_norm(x, 3)", "x:(N, K, W) -> y:(N, K, W); N >= 1, K >= 1, W >= 1"),
    "sdpa": ("F.scaled_dot_product_attention(q, k, v)", "q:(B, T, D), k:(B, S, D), v:(B, S, E) -> y:(B, T, E); D >= 1, S >= 1"),
    "sdpa_causal": ("F.scaled_dot_product_attention(q, k, v, is_causal=True)", "q:(B, T, D), k:(B, T, D), v:(B, T, E) -> y:(B, T, E); D >= 1"),
    "prelu": ("F.prelu(x, w)", "x:(N, K), w:(K) -> y:(N, K); K >= 2"),
    "embedding_bag": ("F.embedding_bag(torch.tensor([[0, 1], [1, 1]]), w, mode='max')", "w:(2, D) -> y:(2, D)"),
    "pixel_shuffle": ("F.pixel_shuffle(x, 2)", "x:(N, 4*C, H, W) -> y:(N, C, 2*H, 2*W)"),
    "unfold": ("F.unfold(x, 2)", "x:(N, C, H + 1, W + 1) -> y:(N, 4*C, H*W); N >= 1, C >= 1, H >= 1, W >= 1"),
    "pad_reflect": ("F.pad(x, (1, 1), mode='reflect')", "x:(N, C, W) -> y:(N, C, W + 2); W >= 2"),
    "pad_circular": ("F.pad(x, (1, 1), mode='circular')", "x:(N, C, W) -> y:(N, C, W + 2); W >= 1"),
    # products and matrices
    "matmul": ("torch.matmul(a, b)", "a:(N, K), b:(K, M) -> y:(N, M)"), "bmm": ("torch.bmm(a, b)", "a:(B, N, K), b:(B, K, M) -> y:(B, N, M)"),
    "baddbmm": ("torch.baddbmm(c, a, b)", "c:(B, N, M), a:(B, N, K), b:(B, K, M) -> y:(B, N, M)"),
    "addmv": ("torch.addmv(c, a, b)", "c:(N), a:(N, K), b:(K) -> y:(N)"), "outer": ("torch.outer(a, b)", "a:(N), b:(M) -> y:(N, M)"),
    "kron": ("torch.kron(a, b)", "a:(N), b:(M) -> y:(N*M)"), "einsum": ("torch.einsum('nk,mk->nm', a, b)", "a:(N, K), b:(M, K) -> y:(N, M)"),
    "cross": ("torch.linalg.cross(a, b)", "a:(N, 3), b:(N, 3) -> y:(N, 3)"), "vecdot": ("torch.linalg.vecdot(a, b)", "a:(N, D), b:(N, D) -> y:(N)"),
    "det": ("torch.linalg.det(x)", _NUMBER), "logabsdet": ("torch.linalg.slogdet(x)[1]", _NUMBER), "trace": ("torch.trace(x)", "x:(N, K) -> y:()"),
    "inv": ("torch.linalg.inv(x)", _MATRIX, _DEFINITE), "cholesky": ("torch.linalg.cholesky(x)", _MATRIX, _DEFINITE),
    "matrix_exp": ("torch.linalg.matrix_exp(x)", _MATRIX), "matrix_power": ("torch.linalg.matrix_power(x, 3)", _MATRIX),
    "svdvals": ("torch.linalg.svdvals(x)", "x:(N, K, K) -> y:(N, K); K >= 1"),
    "eigvalsh": ("torch.linalg.eigvalsh(x)", "x:(N, K, K) -> y:(N, K); K >= 1", _DEFINITE),
    "norm_nuclear": ("torch.linalg.matrix_norm(x, 'nuc')", _NUMBER), "norm_spectral": ("torch.linalg.matrix_norm(x, 2)", _NUMBER),
    "pinv": ("torch.linalg.pinv(x)", "x:(N, P, Q) -> y:(N, Q, P); P >= 1, Q >= 1"),
    "solve": ("torch.linalg.solve(x, b)", "x:(N, K, K), b:(N, K, P) -> y:(N, K, P); K >= 1, P >= 1", _DEFINITE),
    "solve_triangular": ("torch.linalg.solve_triangular(torch.tril(x), b, upper=False)", "x:(K, K), b:(K, P) -> y:(K, P); K >= 1, P >= 1", _DEFINITE),
}  # fmt: skip
