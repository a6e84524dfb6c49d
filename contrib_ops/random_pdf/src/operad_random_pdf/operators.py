"""`_random_pdf_normal` and others: densities of numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import lgamma, pi
from typing import Any, Final

import numpy as np

from operad_random_pdf import densities
from operad_random_pdf.family import Density
from operad_sdk import (
    Array,
    Contract,
    Domain,
    Integers,
    OperatorProperty,
    Real,
    gradient,
    operator,
    positive,
    slope_of,
)

_log_gamma: Final = np.vectorize(lgamma, otypes=[float])


def _forward_of_one(self: Density, sample: Array, first: Array) -> Array:
    return self.density(sample, first)


def _forward_of_two(self: Density, sample: Array, first: Array, second: Array) -> Array:
    return self.density(sample, first, second)


def _gradient_of(name: str, target: str, count: int) -> Any:
    """The gradient of the argument `target`, which functions call `name`."""

    def of_one(self: Density, output_grad: Array, sample: Array, first: Array) -> Array:
        return self.slope(target, output_grad, sample, first)

    def of_two(self: Density, output_grad: Array, sample: Array, first: Array, second: Array) -> Array:
        return self.slope(target, output_grad, sample, first, second)

    return gradient(target)(of_one if count == 1 else of_two)


def _density(
    name: str,
    params: Mapping[str, Domain],
    sample: Domain,
    reference: Callable[..., Any],
    *,
    what: str,
    formula: str,
    example: str,
    element_cost: float = 40,
) -> type[OperatorProperty]:
    """Declare the density of one distribution.

    Args:
        params: Its parameters, with the values that the contract checks try.
        sample: Likewise; samples that are counted get no gradient.
        reference: The logarithm of the density.
        example: Arguments and result of a call.
        element_cost: As of any operator.
    """
    own = ("first", "second")[: len(params)]
    log_density = getattr(densities, name)
    targets = {"sample": "sample"} if sample.is_real else {}
    targets |= dict(zip(own, params, strict=True))

    def by_definition(*arrays: Array, is_log: bool) -> Array:
        samples, *values = arrays
        with np.errstate(all="ignore"):
            found = reference(samples, *(v.reshape(v.shape + (1,) * (samples.ndim - v.ndim)) for v in values))
            return found if is_log else np.exp(found)

    tensors = ", ".join(f"{tensor}:(*P)" for tensor in params)
    given, printed = example.split(" -> ")
    made = type(
        f"pdf_{name}",
        (Density,),
        {
            "__doc__": f"""The density of samples of {what}: `{formula}`.

    Shapes:
        sample: (*P, *S), S samples of each distribution.
{"".join(f"        {tensor}: (*P).{chr(10)}" for tensor in params)}        output: As sample.

    Example:
        >>> import operad as od
        >>> arrays = [od.nd.array(values) for values in ({given})]
        >>> od.nd.random_pdf_{name}(*arrays).asnumpy().round(4)
        {printed}

    Source: PDF_{name.title().replace("_", "")}, src/operator/random/pdf_op.h.
    """,
            "__module__": __name__,
            "spec": f"sample:(*P, *S), {tensors} -> output:(*P, *S)",
            "aliases": dict(zip(own, params, strict=True)),
            "element_cost": element_cost,
            "log_density": log_density,
            "slopes": {target: slope_of(log_density, target) for target in targets.values()},
            "forward": _forward_of_one if len(params) == 1 else _forward_of_two,
            **{
                f"{mine}_gradient": _gradient_of(mine, theirs, len(params))
                for mine, theirs in targets.items()
            },
            "contract": Contract(inputs={"sample": sample, **params}, reference=by_definition),
        },
    )
    declared: type[OperatorProperty] = operator(f"_random_pdf_{name}")(made)
    return declared


pdf_normal = _density(
    "normal",
    {"mu": Real(), "sigma": positive()},
    Real(),
    lambda x, mu, sigma: np.log(1 / (sigma * np.sqrt(2 * pi))) - (x - mu) ** 2 / (2 * sigma**2),
    what="the normal distribution of mean `mu` and standard deviation `sigma`",
    formula="exp(-((x - mu) / sigma)^2 / 2) / (sigma sqrt(2 pi))",
    example="[[-1, 0, 1]], [0], [1] -> array([[0.242 , 0.3989, 0.242 ]], dtype=float32)",
    element_cost=5,
)
pdf_gamma = _density(
    "gamma",
    {"alpha": positive(), "beta": positive()},
    positive(),
    lambda x, alpha, beta: alpha * np.log(beta) + (alpha - 1) * np.log(x) - beta * x - _log_gamma(alpha),
    what="the gamma distribution of shape `alpha` and rate `beta`",
    formula="beta^alpha x^(alpha - 1) exp(-beta x) / Gamma(alpha)",
    example="[[1, 2, 3]], [2], [1] -> array([[0.3679, 0.2707, 0.1494]], dtype=float32)",
)
pdf_exponential = _density(
    "exponential",
    {"lam": positive()},
    positive(),
    lambda x, lam: np.log(lam * np.ones_like(x)) - lam * x,
    what="the exponential distribution of rate `lam`",
    formula="lam exp(-lam x)",
    example="[[0, 1, 2]], [1] -> array([[1.    , 0.3679, 0.1353]], dtype=float32)",
    element_cost=3,
)
pdf_poisson = _density(
    "poisson",
    {"lam": positive()},
    Integers(0, 6),
    lambda x, lam: x * np.log(lam) - _log_gamma(x + 1) - lam,
    what="the Poisson distribution of mean `lam`",
    formula="lam^x exp(-lam) / x!",
    example="[[0, 1, 2]], [1] -> array([[0.3679, 0.3679, 0.1839]], dtype=float32)",
)
pdf_negative_binomial = _density(
    "negative_binomial",
    {"k": positive(), "p": Real(0.0, 1.0)},
    Integers(0, 6),
    lambda x, k, p: _log_gamma(k + x) - _log_gamma(k) - _log_gamma(x + 1) + k * np.log(p) + x * np.log(1 - p),
    what="the number of trials that fail before `k` succeed, each with probability `p`",
    formula="Gamma(k + x) / (Gamma(k) x!) p^k (1 - p)^x",
    example="[[0, 1, 2]], [1], [0.5] -> array([[0.5  , 0.25 , 0.125]], dtype=float32)",
)
pdf_generalized_negative_binomial = _density(
    "generalized_negative_binomial",
    {"mu": positive(), "alpha": Real(0.5, 4.0)},  # differences of gamma functions cancel as alpha nears 0
    Integers(0, 6),
    lambda x, mu, alpha: (
        _log_gamma(1 / alpha + x)
        - _log_gamma(1 / alpha)
        - _log_gamma(x + 1)
        - np.log(1 + mu * alpha) / alpha
        + x * np.log(mu * alpha / (1 + mu * alpha))
    ),
    what="counts of mean `mu` and variance `mu + alpha mu^2`",
    formula="Gamma(1/alpha + x) / (Gamma(1/alpha) x!) (1 + alpha mu)^(-1/alpha - x) (alpha mu)^x",
    example="[[0, 1, 2]], [1], [1] -> array([[0.5  , 0.25 , 0.125]], dtype=float32)",
)
