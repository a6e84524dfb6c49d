"""`_random_normal` and others, whose parameters are numbers, and `_random_normal_like` and others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Final

import numpy as np

from operad_sampling import family as families
from operad_sampling.family import Family
from operad_sampling.parts import fill_in_parts
from operad_sdk import (
    Array,
    Contract,
    Distribution,
    OpContext,
    OperatorProperty,
    ParamError,
    ResourceRequest,
    operator,
    param,
)

FLOATS: Final = ("float16", "float32", "float64")
_MANY: Final = (100, 100)
"""Shape of the draws that the contract checks look at."""
_PARTS: Final = (300, 300)
"""Shape of draws in two parts."""


class Drawing(OperatorProperty):
    """An operator that draws from a distribution.

    Attributes:
        family: The distribution, where it is one of a table's.
        types: Element types that draws can have; the usual one is `usual_type`.
        dtype: Element type of the draws where the operator says it; None: the usual one.
    """

    family: ClassVar[Family]
    types: ClassVar[tuple[str, ...]] = FLOATS
    usual_type: ClassVar[str] = "float32"
    dtype: str | None
    resource = ResourceRequest.PARALLEL_RANDOM
    element_cost = 20

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if "dtype" in type(self).params and self.drawn not in self.types:
            raise ParamError(
                f"{self.name}: parameter 'dtype' is {self.dtype!r}, expected {', '.join(self.types)} or None"
            )

    @property
    def drawn(self) -> str:
        """Element type of the draws."""
        return self.dtype or self.usual_type


def declared(name: str, base: type[OperatorProperty], **attributes: Any) -> type[OperatorProperty]:
    """The operator `name`: a class with these attributes."""
    made: type[OperatorProperty] = operator(name)(type(name, (base,), attributes))
    return made


class _OfNumbers(Drawing):
    """The forward pass where parameters are numbers."""

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if self.family is families.UNIFORM:
            _check_range(self)

    @property
    def values(self) -> tuple[float, ...]:
        """The distribution's parameters."""
        return tuple(getattr(self, name) for name in self.family.params)

    def forward(self, op_ctx: OpContext, output: Array) -> None:
        """Draw in parts."""
        values = self.values

        def fill(generator: Any, chunk: Array) -> None:
            self.family.draw(generator, chunk, *values)

        fill_in_parts(op_ctx, output, fill)


def _check_range(prop: Any) -> None:
    if not prop.low <= prop.high:
        raise ParamError(f"{prop.name}: low is {prop.low}, expected at most high, {prop.high}")
    largest = float(np.finfo(np.float64 if getattr(prop, "dtype", None) == "float64" else np.float32).max)
    if not prop.high - prop.low <= largest:
        raise ParamError(f"{prop.name}: high - low is {prop.high - prop.low}, expected at most {largest:g}")


def _distribution(family: Family, tried: Iterable[Mapping[str, Any]], **options: Any) -> Distribution:
    cdf = family.cdf

    def of(function: Any, prop: Any, *first: Any) -> Any:
        return function(*first, *prop.values)

    return Distribution(
        mean=partial(of, family.mean),
        variance=partial(of, family.variance),
        cdf=None if cdf is None else lambda prop, x: of(cdf, prop, x),
        draws=_below_high if family is families.UNIFORM else None,
        params=list(tried),
        **options,
    )


def _below_high(prop: Any, inputs: Sequence[Array], outputs: Sequence[Array]) -> Array:
    """The draws; NaN, which is none, instead of any that is not below the upper end."""
    return np.where(outputs[0] < prop.high, outputs[0], np.nan)


def _documented(family: Family, name: str, shapes: str, call: str, source: str) -> str:
    given = ", ".join(f"{key}={value}" for key, value in family.example.items())
    mean = round(float(family.mean(*family.example.values())), 1)
    return f"""{family.what}.

    No gradient flows.

    Shapes:
        {shapes}

    Example:
        >>> import operad as od
        >>> od.random.seed(0)
        >>> x = od.nd.{name}({call.format(given)}).asnumpy()
        >>> abs(float(x.mean()) - {mean}) < 0.1
        True

    Source: {source}, src/operator/random/sample_op.h. Differs: other numbers for a seed.
    """


def _declared(
    family: Family, name: str, shapes: str, call: str, source: str, **attributes: Any
) -> type[OperatorProperty]:
    doc = _documented(family, name, shapes, call, source)
    shared = {"__doc__": doc, "__module__": __name__, "family": family, **family.params}
    return declared(name, _OfNumbers, **shared, **attributes)


def _of_numbers(family: Family) -> type[OperatorProperty]:
    return _declared(
        family,
        f"_random_{family.name}",
        "output: `shape`, of type `dtype`.",
        "{}, shape=(100, 100)",
        "SampleUniformParam",
        shape=param("shape", None, doc="Shape of the output; left out: the graph's."),
        ctx=param(str, "", ignored="Accepted for MXNet's files; the call or the binding says where."),
        dtype=param("dtype", None, doc="float16, float32 or float64; left out: float32."),
        spec="-> output:drawn(*shape)",
        contract=Contract(
            params={"shape": ((), (2, 3), (4,)), "dtype": (None, *FLOATS), **_values(family)},
            distribution=_distribution(
                family,
                [
                    *({"shape": _MANY, **values} for values in (family.example, *family.further)),
                    {"shape": _PARTS, **family.example},
                ],
            ),
        ),
    )


def _like(family: Family) -> type[OperatorProperty]:
    return _declared(
        family,
        f"_random_{family.name}_like",
        "data: (...), of a floating type.\n        output: As data.",
        "od.nd.zeros((100, 100)), {}",
        "SampleUniformLikeParam",
        spec="data:(...) -> output:(...)",
        accepts="floating",
        inplace="data -> output",
        contract=Contract(
            params=_values(family),
            distribution=_distribution(
                family,
                [family.example, *(one for one in family.further if "dtype" not in one)],
                shapes=[_MANY],
            ),
        ),
    )


def _values(family: Family) -> dict[str, tuple[float, ...]]:
    return {key: (declared.default, family.example[key]) for key, declared in family.params.items()}


random_uniform = _of_numbers(families.UNIFORM)
random_normal = _of_numbers(families.NORMAL)
random_gamma = _of_numbers(families.GAMMA)
random_exponential = _of_numbers(families.EXPONENTIAL)
random_poisson = _of_numbers(families.POISSON)
random_negative_binomial = _of_numbers(families.NEGATIVE_BINOMIAL)
random_generalized_negative_binomial = _of_numbers(families.GENERALIZED_NEGATIVE_BINOMIAL)

random_uniform_like = _like(families.UNIFORM)
random_normal_like = _like(families.NORMAL)
random_gamma_like = _like(families.GAMMA)
random_exponential_like = _like(families.EXPONENTIAL)
random_poisson_like = _like(families.POISSON)
random_negative_binomial_like = _like(families.NEGATIVE_BINOMIAL)
random_generalized_negative_binomial_like = _like(families.GENERALIZED_NEGATIVE_BINOMIAL)
