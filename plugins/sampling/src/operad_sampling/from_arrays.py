"""`_sample_normal` and others, whose parameters are arrays: `shape` draws for each of their elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad_sampling import family as families
from operad_sampling.family import Family
from operad_sampling.from_numbers import FLOATS, Drawing, declared
from operad_sdk import Array, Contract, Distribution, OpContext, OperatorProperty, param


class _OfArrays(Drawing):
    """The forward pass where parameters are arrays."""

    shape: tuple[int, ...]

    def fill(self, op_ctx: OpContext, output: Array, *values: Array) -> None:
        """Draw for all elements of `values`, each repeated along the last axes of `output`."""
        wide = np.float64 if output.dtype == np.float64 else np.float32
        spread = [value.astype(wide).reshape(value.shape + (1,) * len(self.shape)) for value in values]
        (generator,) = op_ctx.requested[0].generators(1)
        self.family.draw(generator, output, *spread)


def _of_one(self: _OfArrays, op_ctx: OpContext, first: Array, output: Array) -> None:
    self.fill(op_ctx, output, first)


def _of_two(self: _OfArrays, op_ctx: OpContext, first: Array, second: Array, output: Array) -> None:
    self.fill(op_ctx, output, first, second)


def _of_arrays(family: Family) -> type[OperatorProperty]:
    name, tensors = f"_sample_{family.name}", family.tensor_names
    return declared(
        name,
        _OfArrays,
        __doc__=_documented(family, name),
        __module__=__name__,
        shape=param("shape", (), doc="Shape of the draws for each element."),
        dtype=param("dtype", None, doc="float16, float32 or float64; left out: float32."),
        spec=f"{', '.join(f'{tensor}:(*P)' for tensor in tensors)} -> output:drawn(*P, *shape)",
        accepts="number",
        aliases=dict(zip(("first", "second"), tensors, strict=False)),
        forward=_of_one if len(tensors) == 1 else _of_two,
        family=family,
        contract=_contract(family),
    )


def _contract(family: Family) -> Contract:
    def standardized(prop: Any, inputs: Sequence[Array], outputs: Sequence[Array]) -> Array:
        """The draws less their mean, over their standard deviation; without those that are no draws."""
        draws = outputs[0]
        values = [value.reshape(value.shape + (1,) * (draws.ndim - value.ndim)) for value in inputs]
        centred = draws - family.mean(*values)
        spread = np.broadcast_to(family.variance(*values) ** 0.5, draws.shape)
        is_drawn = (spread > 0) | (centred != 0)
        drawn: Array = centred[is_drawn] / spread[is_drawn]
        return drawn

    return Contract(
        inputs=dict(zip(family.tensor_names, family.domains, strict=True)),
        params={"shape": ((), (2,), (2, 3)), "dtype": (None, *FLOATS)},
        no_numeric_gradient="draws are constants to MXNet, also where they move with the parameters",
        distribution=Distribution(
            mean=lambda prop: 0.0,
            variance=lambda prop: 1.0,
            draws=standardized,
            params=[{"shape": (100, 10), "dtype": "float64"}],
            shapes=[(3, 4)] * len(family.params),
        ),
    )


def _documented(family: Family, name: str) -> str:
    values = family.example.values()
    mean = round(float(family.mean(*values)), 1)
    arrays = ", ".join(f"od.nd.array([{value}])" for value in values)
    shapes = "\n".join(f"        {tensor}: (...), of numbers." for tensor in family.tensor_names)
    return f"""{family.what}, for each element of the arguments.

    A draw is NaN where an argument is out of the distribution's domain. No gradient flows.

    Shapes:
{shapes}
        output: (..., *shape), of type `dtype`.

    Example:
        >>> import operad as od
        >>> od.random.seed(0)
        >>> x = od.nd.{name}({arrays}, shape=10000).asnumpy()
        >>> x.shape, abs(float(x.mean()) - {mean}) < 0.1
        ((1, 10000), True)

    Source: MultiSampleOp, src/operator/random/multisample_op.h. Differs: other numbers for a seed; NaN where
    MXNet does not end or gives something else.
    """


sample_uniform = _of_arrays(families.UNIFORM)
sample_normal = _of_arrays(families.NORMAL)
sample_gamma = _of_arrays(families.GAMMA)
sample_exponential = _of_arrays(families.EXPONENTIAL)
sample_poisson = _of_arrays(families.POISSON)
sample_negative_binomial = _of_arrays(families.NEGATIVE_BINOMIAL)
sample_generalized_negative_binomial = _of_arrays(families.GENERALIZED_NEGATIVE_BINOMIAL)
