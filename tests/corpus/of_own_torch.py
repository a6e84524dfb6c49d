"""Functions of PyTorch with a backward pass by hand, as people write them: `torch.autograd.Function`s of ours."""

from __future__ import annotations

from typing import Any, Final

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from operad_sdk import Contract, Integers, PositiveDefinite

PROGRAM: Final = ("from tests.corpus import of_own_torch as own",)
_EACH: Final = "x:(...) -> y:(...)"
_TWO: Final = "a:(...), b:(...) -> y:(...)"
_ROWS: Final = "x:(N, D) -> y:(N); N >= 1, D >= 1"
_ALONG: Final = "x:(N, D) -> y:(N, D); N >= 1, D >= 1"


class Swish(Function):
    """x sigmoid(x), whose slope is s (1 + x (1 - s))."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx: Any, *heads: Any) -> Any:
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x)
        return heads[0] * s * (1 + x * (1 - s))


class Softplus(Function):
    """log(1 + exp(x)), whose slope is sigmoid(x)."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return torch.logaddexp(x, torch.zeros_like(x))

    @staticmethod
    def backward(ctx: Any, *heads: Any) -> Any:
        (x,) = ctx.saved_tensors
        return heads[0] * torch.sigmoid(x)


class Cube(Function):
    """x^3, whose slope is 3 x^2."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx: Any, *heads: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 3 * x * x * heads[0]


class RMSNorm(Function):
    """w x / r with r = sqrt(mean(x^2) + 1e-3): d/dx = (w g - n mean(w g n)) / r, of n = x / r."""

    @staticmethod
    def forward(ctx: Any, x: Any, w: Any) -> Any:
        ctx.save_for_backward(x, w)
        return w * x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-3)

    @staticmethod
    def backward(ctx: Any, *heads: Any) -> Any:
        x, w = ctx.saved_tensors
        scale = torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-3)
        n, g = x * scale, heads[0] * w
        return scale * (g - n * (g * n).mean(-1, keepdim=True)), (heads[0] * n).sum(0)


class Softmax(Function):
    """exp(x) / sum(exp(x)): d/dx = y (g - sum(g y))."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        y = torch.softmax(x, -1)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, *heads: Any) -> Any:
        (y,) = ctx.saved_tensors
        return y * (heads[0] - (heads[0] * y).sum(-1, keepdim=True))


class LogSumExp(Function):
    """log(sum(exp(x))): d/dx = g softmax(x)."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return torch.logsumexp(x, -1)

    @staticmethod
    def backward(ctx: Any, *heads: Any) -> Any:
        (x,) = ctx.saved_tensors
        return heads[0][:, None] * torch.softmax(x, -1)


class FocalLoss(Function):
    """-(1 - p)^2 log(p) of p = softmax(x)[t], with the slope by log(p) as a row of softmax."""

    @staticmethod
    def forward(ctx: Any, x: Any, t: Any) -> Any:
        ctx.save_for_backward(x, t)
        log_p = torch.log_softmax(x, -1).gather(-1, t[:, None])[:, 0]
        return -((1 - log_p.exp()) ** 2) * log_p

    @staticmethod
    def backward(ctx: Any, *heads: Any) -> Any:
        x, t = ctx.saved_tensors
        log_p = torch.log_softmax(x, -1).gather(-1, t[:, None])
        p = log_p.exp()
        slope = 2 * (1 - p) * p * log_p - (1 - p) ** 2
        ones = torch.zeros_like(x).scatter(-1, t[:, None], 1.0)
        return heads[0][:, None] * slope * (ones - torch.softmax(x, -1)), None


class SmoothedCrossEntropy(Function):
    """Cross entropy with a tenth of each label spread over all classes: d/dx = softmax(x) - q."""

    @staticmethod
    def forward(ctx: Any, x: Any, t: Any) -> Any:
        q = torch.full_like(x, 0.1 / x.shape[-1]).scatter(-1, t[:, None], 0.9 + 0.1 / x.shape[-1])
        ctx.save_for_backward(x, q)
        return -(q * torch.log_softmax(x, -1)).sum(-1)

    @staticmethod
    def backward(ctx: Any, *heads: Any) -> Any:
        x, q = ctx.saved_tensors
        return heads[0][:, None] * (torch.softmax(x, -1) * q.sum(-1, keepdim=True) - q), None


class Round(Function):
    """A quantizer to quarters with the straight-through estimator: the gradient is the head's."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return torch.round(x * 4) / 4

    @staticmethod
    def backward(ctx: Any, *heads: Any) -> Any:
        return heads[0]


class ReverseGradient(Function):
    """The identity, whose gradient has the other sign, as domain adaptation uses it."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *heads: Any) -> Any:
        return -heads[0]


class ClippedExp(Function):
    """exp(min(x, 4)): no slope beyond 4."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return torch.exp(x.clamp(max=4.0))

    @staticmethod
    def backward(ctx: Any, *heads: Any) -> Any:
        (x,) = ctx.saved_tensors
        return torch.where(x < 4, heads[0] * torch.exp(x.clamp(max=4.0)), 0 * x)


class SoftDTW(Function):
    """Soft dynamic time warping of a table of costs, gamma 1, by the recursion of Cuturi and Blondel (2017).

    The gradient is the expected alignment, computed backwards through the table.
    """

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        n, m = x.shape
        r = torch.full((n + 2, m + 2), float("inf"), dtype=x.dtype)
        r[0, 0] = 0
        for i in range(1, n + 1):
            for j in range(1, m + 1):
                r[i, j] = x[i - 1, j - 1] - torch.logsumexp(
                    -torch.stack((r[i - 1, j - 1], r[i - 1, j], r[i, j - 1])), 0
                )
        ctx.save_for_backward(x, r)
        return r[n, m].clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *heads: Any) -> Any:
        x, r = ctx.saved_tensors
        n, m = x.shape
        costs = torch.zeros((n + 2, m + 2), dtype=x.dtype)
        costs[1 : n + 1, 1 : m + 1] = x
        r = r.clone()
        r[n + 1, :], r[:, m + 1] = -float("inf"), -float("inf")
        r[n + 1, m + 1] = r[n, m]
        e = torch.zeros_like(r)
        e[n + 1, m + 1] = 1
        for j in range(m, 0, -1):
            for i in range(n, 0, -1):
                steps = ((i + 1, j), (i, j + 1), (i + 1, j + 1))
                e[i, j] = sum(e[p] * torch.exp(r[p] - r[i, j] - costs[p]) for p in steps)
        return heads[0] * e[1 : n + 1, 1 : m + 1]


def _implicit_sinkhorn(x: Any, rounds: int = 200) -> Any:
    log = -x
    for _ in range(rounds):
        log = log - torch.logsumexp(log, -1, keepdim=True)
        log = log - torch.logsumexp(log, -2, keepdim=True)
    return log


class SinkhornCost(Function):
    """Least entropic cost of transport between uniform weights, whose gradient is the plan (the envelope theorem)."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        plan = _implicit_sinkhorn(x).exp() / x.shape[-1]
        ctx.save_for_backward(plan)
        return (plan * x).sum() + torch.special.xlogy(plan, plan).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *heads: Any) -> Any:
        (plan,) = ctx.saved_tensors
        return heads[0] * plan


class Sort(Function):
    """Sorted rows; the gradient goes back to where each element came from."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        y, order = x.sort(dim=-1, stable=True)
        ctx.save_for_backward(order)
        return y

    @staticmethod
    def backward(ctx: Any, *heads: Any) -> Any:
        (order,) = ctx.saved_tensors
        return torch.zeros_like(heads[0]).scatter(-1, order, heads[0])


class Solve(Function):
    """The solution of a positive definite system: d/db = A^-1 g, d/dA = -A^-1 g y^T."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Any:
        y = torch.linalg.solve(a, b)
        ctx.save_for_backward(a, y)
        return y

    @staticmethod
    def backward(ctx: Any, *heads: Any) -> Any:
        a, y = ctx.saved_tensors
        by_b = torch.linalg.solve(a.mT, heads[0])
        return -by_b[..., :, None] * y[..., None, :], by_b


class Hypot(Function):
    """sqrt(a^2 + b^2), whose gradient at the origin is 0."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Any:
        y = torch.hypot(a, b)
        ctx.save_for_backward(a, b, y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *heads: Any) -> Any:
        a, b, y = ctx.saved_tensors
        length = torch.where(y == 0, 1, y)
        return heads[0] * a / length, heads[0] * b / length


def _apply(name: str) -> str:
    return f"own.{name}.apply(x)"


TABLE: Final[dict[str, tuple[object, ...]]] = {
    **{name: (_apply(name), _EACH) for name in ("Swish", "Softplus", "Cube", "ClippedExp")},
    "RMSNorm": ("own.RMSNorm.apply(x, w)", "x:(N, D), w:(D) -> y:(N, D); N >= 1, D >= 1"),
    "Softmax": (_apply("Softmax"), _ALONG), "Sort": (_apply("Sort"), _ALONG), "LogSumExp": (_apply("LogSumExp"), _ROWS),
    **{
        name: (f"own.{name}.apply(x, t)", "x:(N, 3), t:int64(N) -> y:(N)", Contract(inputs={"t": Integers(0, 2)}))
        for name in ("FocalLoss", "SmoothedCrossEntropy")
    },
    "Round": (_apply("Round"), _EACH, Contract(no_numeric_gradient="the straight-through estimator passes the gradient on")),
    "ReverseGradient": (_apply("ReverseGradient"), _EACH, Contract(no_numeric_gradient="the gradient is meant to have the other sign")),
    "SoftDTW": (_apply("SoftDTW"), "x:(3, 4) -> y:()"),
    "SinkhornCost": (_apply("SinkhornCost"), "x:(3, 3) -> y:()"),
    "Solve": (
        "own.Solve.apply(a, b)", "a:(N, K, K), b:(N, K) -> y:(N, K); N >= 1, K >= 1", Contract(inputs={"a": PositiveDefinite()}),
    ),
    "Hypot": ("own.Hypot.apply(a, b)", _TWO),
}  # fmt: skip
