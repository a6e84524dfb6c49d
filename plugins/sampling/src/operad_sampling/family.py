"""Record of the operators of one distribution; and the records.

A distribution has three operators: of numbers (`_random_normal`), of numbers in the shape of an array
(`_random_normal_like`), and of arrays of parameters (`_sample_normal`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import erf
from typing import Any, Final, final

import numpy as np

from operad_sampling import draws
from operad_sdk import Array, Domain, Real, param, positive


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A distribution.

    Attributes:
        name: MXNet's, without prefix.
        what: What is drawn, in words.
        params: Its parameters as numbers.
        tensors: Names of the parameters as arrays; None: those of `params`.
        domains: Where the contract checks take values of arrays from.
        fill: Draws; see `operad_sampling.draws`.
        finish: Called with draws of the target's type, which may have been rounded; None: nothing is to do.
        mean: Of one draw, as a function of the parameters.
        variance: Likewise.
        cdf: `cdf(x, *params)`; None where it takes more than NumPy.
        example: Values of the parameters for the documentation.
        further: Others whose draws the contract checks look at.
    """

    name: str
    what: str
    params: Mapping[str, Any]
    tensors: Sequence[str] = ()
    domains: Sequence[Domain]
    fill: Callable[..., None]
    finish: Callable[..., None] | None = None
    mean: Callable[..., Any]
    variance: Callable[..., Any]
    cdf: Callable[..., Any] | None = None
    example: Mapping[str, float]
    further: Sequence[Mapping[str, Any]] = ()

    @property
    def tensor_names(self) -> Sequence[str]:
        """Names of the parameters as arrays."""
        return self.tensors or tuple(self.params)

    def draw(self, generator: Any, target: Array, *values: Any) -> None:
        """Fill `target`, of any floating type, with draws."""
        is_direct = target.dtype.itemsize > 2 and target.flags.c_contiguous
        out = target if is_direct else np.empty(target.shape, _wide(target.dtype), like=target)
        self.fill(generator, out, *values)
        if not is_direct:
            target[...] = out
        if self.finish is not None:
            self.finish(target, *values)


def _wide(dtype: Any) -> Any:
    return np.dtype(np.float32) if dtype.itemsize == 2 else dtype


def _keep_below(target: Array, low: Any, high: Any) -> None:
    """Make what was rounded up to `high` the number `low`.

    `low` is rounded to from above alone, so that this gives it what it lacks: every number of the type is
    drawn as often as its distance from its neighbours says.
    """
    dtype = target.dtype
    low, high = np.asarray(low, dtype, like=target), np.asarray(high, dtype, like=target)
    np.copyto(target, low, where=target >= high)


def _normal_cdf(x: Array, loc: float, scale: float) -> Array:
    return np.array([(1 + erf((value - loc) / (scale * 2**0.5))) / 2 for value in x])


_ZERO: Final = 1e-300
_FROM_ZERO: Final = Real(above=-_ZERO, below=4)
"""Numbers of at least 0, which is a limit of each distribution."""

UNIFORM: Final = Family(
    name="uniform",
    what="Numbers spread evenly over [low, high), rounded to the element type",
    params={
        "low": param(float, 0.0, doc="Lower end."),
        "high": param(float, 1.0, doc="Upper end, itself not drawn unless it is the lower end."),
    },
    domains=(Real(above=-2, below=_ZERO), Real(above=-_ZERO, below=2)),
    fill=draws.fill_uniform,
    finish=_keep_below,
    mean=lambda low, high: (low + high) / 2,
    variance=lambda low, high: (high - low) ** 2 / 12,
    cdf=lambda x, low, high: np.clip((x - low) / (high - low), 0, 1),
    example={"low": 1, "high": 5},
    further=[
        {"low": -2e38, "high": 2e38, "dtype": "float64"},
        {"low": 1, "high": 1.5, "dtype": "float16"},  # one in 1,000 is rounded up to 1.5
    ],
)
NORMAL: Final = Family(
    name="normal",
    what="Numbers of the normal distribution with mean `loc` and standard deviation `scale`",
    params={
        "loc": param(float, 0.0, doc="Mean."),
        "scale": param(float, 1.0, gt=0, doc="Standard deviation."),
    },
    tensors=("mu", "sigma"),
    domains=(Real(), _FROM_ZERO),
    fill=draws.fill_normal,
    mean=lambda loc, scale: loc,
    variance=lambda loc, scale: scale**2,
    cdf=_normal_cdf,
    example={"loc": 3, "scale": 2},
)
GAMMA: Final = Family(
    name="gamma",
    what="Numbers of the gamma distribution with shape `alpha` and scale `beta`",
    params={
        "alpha": param(float, 1.0, gt=0, doc="Shape."),
        "beta": param(float, 1.0, gt=0, doc="Scale."),
    },
    domains=(_FROM_ZERO, _FROM_ZERO),
    fill=draws.fill_gamma,
    mean=lambda alpha, beta: alpha * beta,
    variance=lambda alpha, beta: alpha * beta**2,
    example={"alpha": 3, "beta": 2},
)
EXPONENTIAL: Final = Family(
    name="exponential",
    what="Numbers of the exponential distribution with rate `lam`",
    params={"lam": param(float, 1.0, gt=0, doc="Rate, one over the mean.")},
    domains=(positive(),),
    fill=draws.fill_exponential,
    mean=lambda lam: 1 / lam,
    variance=lambda lam: 1 / lam**2,
    cdf=lambda x, lam: 1 - np.exp(-lam * x),
    example={"lam": 0.25},
)
POISSON: Final = Family(
    name="poisson",
    what="Counts of the Poisson distribution with mean `lam`",
    params={"lam": param(float, 1.0, ge=0, doc="Mean.")},
    domains=(_FROM_ZERO,),
    fill=draws.fill_poisson,
    mean=lambda lam: lam,
    variance=lambda lam: lam,
    example={"lam": 4},
    further=[{"lam": 2.0**34}],
)
NEGATIVE_BINOMIAL: Final = Family(
    name="negative_binomial",
    what="How many trials fail before `k` succeed, each with probability `p`",
    params={
        "k": param(int, 1, ge=0, doc="Number of successes that end the trials."),
        "p": param(float, 1.0, gt=0, le=1, doc="Probability that a trial succeeds."),
    },
    domains=(_FROM_ZERO, Real(above=0.25, below=1 + 1e-12)),
    fill=draws.fill_negative_binomial,
    mean=lambda k, p: k * (1 - p) / p,
    variance=lambda k, p: k * (1 - p) / p**2,
    example={"k": 4, "p": 0.5},
)
GENERALIZED_NEGATIVE_BINOMIAL: Final = Family(
    name="generalized_negative_binomial",
    what="Counts of mean `mu` and variance `mu + alpha mu^2`",
    params={
        "mu": param(float, 1.0, ge=0, doc="Mean."),
        "alpha": param(float, 1.0, ge=0, doc="Dispersion; 0 makes it the Poisson distribution."),
    },
    domains=(_FROM_ZERO, Real(above=-_ZERO, below=1)),
    fill=draws.fill_generalized_negative_binomial,
    mean=lambda mu, alpha: mu,
    variance=lambda mu, alpha: mu + alpha * mu**2,
    example={"mu": 4, "alpha": 0.5},
    further=[{"mu": 4, "alpha": 0}, {"mu": 4, "alpha": 1}],
)
