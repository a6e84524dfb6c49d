"""Kernels of functions with run-time parameters: one for all values, which computes what the author wrote."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pytest

from operad import registry
from operad.cli.samples import sample_property, sample_shapes
from operad.context import cpu
from operad.dtypes import DType
from operad.errors import OperadError, ParamError
from operad.operator import (
    FORWARD,
    BackwardArrays,
    ForwardArrays,
    Kernel,
    KernelCall,
    OpContext,
    Operator,
    OperatorProperty,
    OpReq,
    ScalarForm,
)
from operad_check.commands.bench.contestants import SampleCall
from operad_sdk.form_kernels import EXACT
from operad_sdk.vector import reason_against
from operad_sdk.vector.machine import statistics
from operad_sdk.vector.signature import form_of

pytestmark = pytest.mark.skipif(reason_against() is not None, reason="vector code needs llvmlite")

SPREAD = (0.0, -0.0, 1.0, 2.0, -3.0, 0.1, 1e-3, 1e38, 1e300, 1e-40, math.inf, -math.inf, math.nan)
WHOLE = (1, 2, 7, 1000, -3, 0)
SPECIAL = (math.nan, math.inf, -math.inf, 0.0, -0.0, 1e-40, 1e38, -1.0)
HERE = OpContext(cpu(), is_train=True)
TOLERANCE = {"float32": 2e-6, "float64": 2e-14, "float16": 2e-3}

PRODUCT = "numpy.matmul is not element-wise"
LOADED = "'tolist' of arrays"
SCALE = "'item' of arrays"
WITHOUT = {
    **dict.fromkeys(["_linalg_gemm2", "_linalg_syrk", "_linalg_trmm"], PRODUCT),
    "_linalg_trsm": "asked whether it is true",
    **{f"{kind}adamw_update": SCALE for kind in ("_", "_mp_", "_multi_", "_multi_mp_")},
    **{f"preloaded_multi_{kind}update": LOADED for kind in ("sgd_", "sgd_mom_", "mp_sgd_", "mp_sgd_mom_")},
}
"""Operators without such a kernel, with the words of the reason; of `_linalg_gemm` one gradient has one."""
OF_INTEGERS = [f"_npi_bitwise_{word}_scalar" for word in ("and", "or", "xor")]
"""Operators of no floating type, which vector code computes alone."""
OTHER_TYPES = (("_linalg_gemm", "float16"), ("mp_lamb_update_phase2", "float64"))
"""Types that an operator refuses, or that vector code has not together."""


def operators() -> list[str]:
    """Names of the operators with run-time parameters, each once."""
    return [name for name in sorted(registry.list_operators()) if _has_values(name)]


def cases() -> list[Any]:
    """Operators with a form, each in the types that it has; in the fast suite, in single precision."""
    every = [(name, dtype) for name in operators() if name not in WITHOUT for dtype in TOLERANCE]
    return [
        pytest.param(*one, marks=() if one[1] == "float32" else pytest.mark.more)
        for one in every
        if one not in OTHER_TYPES
    ]


def _has_values(name: str) -> bool:
    op = registry.get(name)
    return op.name == name and name not in OF_INTEGERS and bool(op.params.run_time)


def values_of(prop: OperatorProperty) -> Iterator[OperatorProperty]:
    """The operator with another value of one run-time parameter, and then of all."""
    params = type(prop).params
    for value in zip(SPREAD, chain(WHOLE, WHOLE, WHOLE), strict=False):
        each = {name: _fitting(getattr(prop, name), *value) for name in params.run_time}
        for given in [*({name: one} for name, one in each.items()), each]:
            try:
                yield prop.rebound(given)
            except ParamError:
                continue


def _fitting(known: Any, number: float, whole: int) -> Any:
    if isinstance(known, tuple):
        return tuple(_fitting(one, number, whole) for one in known)
    return whole if isinstance(known, int) else number


def _sample(prop: OperatorProperty, dtype: DType) -> SampleCall:
    """A call where vectors end within rows, or else of any shapes."""
    for lead in ([(9, 17)], [(17, 17)], []):
        with suppress(OperadError):
            shapes = sample_shapes(prop, lead)
            if shapes is not None:
                return SampleCall(prop, shapes, dtype)
    raise AssertionError(f"{prop.name} has no sample")


class Sample:
    """Arrays for the functions of an operator."""

    def __init__(self, prop: OperatorProperty, dtype: str) -> None:
        made = _sample(prop, np.dtype(dtype))
        self.prop, self.given, self.states = prop, made.inputs, made.aux
        self.call = (cpu(), [array.shape for array in self.given], [array.dtype for array in self.given])

    def with_special(self) -> None:
        """Numbers at the edges of the types among those of each array."""
        for number, array in enumerate(chain(self.given, self.states)):
            if array.dtype.kind == "f":
                with np.errstate(over="ignore", under="ignore"):
                    array.flat[number :: 5 + number] = np.resize(
                        SPECIAL, len(array.flat[number :: 5 + number])
                    )

    def run(self, operator: Operator, parts: Sequence[str], prop: OperatorProperty) -> Any:
        """Outputs and states, or gradients, of an operator; the class of what it raises."""
        outs = self._outputs(prop)
        given, states = [array.copy() for array in self.given], [array.copy() for array in self.states]
        with np.errstate(all="ignore"):
            try:
                if parts == (FORWARD,):
                    self._forward(operator, prop, given, outs, states)
                    return [*outs, *states]
                rng = np.random.default_rng(0)
                heads = [rng.standard_normal(out.shape).astype(out.dtype) for out in outs]
                for out in outs:
                    out[...] = rng.uniform(0.5, 1.5, out.shape)
                wanted = [f"{name}_grad" in parts for name in prop.list_arguments()]
                targets = [np.full_like(x, 9) if one else None for x, one in zip(given, wanted, strict=True)]
                req = [OpReq.WRITE if one else OpReq.NULL for one in wanted]
                operator.prepare_backward(HERE, BackwardArrays(heads, given, outs, req, targets, states))()
            except ArithmeticError as error:
                return type(error)
        return [target for target in targets if target is not None]

    def _forward(
        self, operator: Operator, prop: OperatorProperty, given: Any, outs: Any, states: Any
    ) -> None:
        direct = operator.direct_with_values
        if direct is None:
            operator.prepare_forward(HERE, ForwardArrays(given, [OpReq.WRITE] * len(outs), outs, states))()
            return
        values = operator.run_time_values(tuple(getattr(prop, name) for name in prop.params.run_time))
        direct(*given, *outs, *states, *values)

    def _outputs(self, prop: OperatorProperty) -> list[Any]:
        shapes, types = prop.infer_shape(self.call[1])[1], prop.infer_type(self.call[2])[1]
        return [np.full(shape, 9, dtype) for shape, dtype in zip(shapes, types, strict=True)]


def kernels(prop: OperatorProperty, sample: Sample) -> Iterator[tuple[tuple[str, ...], Kernel]]:
    """The kernels that follow from the functions, with what each computes."""
    for kernel in prop.derived_kernels():
        assert kernel.parts is not None
        if kernel.when.regardless_of_size(KernelCall(prop, *sample.call)) is True:  # type: ignore[union-attr]
            yield tuple(kernel.parts(prop)), kernel


@pytest.mark.parametrize(("name", "dtype"), cases())
def test_each_value_gives_what_the_author_wrote_by_a_kernel_for_all(name: str, dtype: str) -> None:
    prop = sample_property(registry.get(name), {})
    sample = Sample(prop, dtype)
    found = list(kernels(prop, sample))
    assert found
    own = type(prop).kernels[0]
    for parts, kernel in found:
        first = kernel.factory(prop, *sample.call)
        forms: set[ScalarForm] = set()
        before = statistics.compiled + statistics.loaded
        for other in values_of(prop):
            found_forms = [form_of(KernelCall(other, *sample.call), part)[0] for part in parts]
            forms |= {form for form in found_forms if isinstance(form, ScalarForm)}
            ops = {
                step.op for form in found_forms if isinstance(form, ScalarForm) for step in form.instructions
            }
            is_exact = ops <= EXACT and dtype != "float16"
            near = partial(expect_near, dtype, sums="sum" in ops)
            if is_exact:
                sample.with_special()
            expected = sample.run(own.factory(other, *sample.call), parts, other)
            by_call = parts == (FORWARD,) and first.direct_with_values is not None
            made = first if by_call else first.rebound(other) or kernel.factory(other, *sample.call)
            result = sample.run(made, parts, other)
            about = f"{parts} of {other.get_params()}"
            if isinstance(expected, type):
                assert result is expected, about
                continue
            for one, theirs in zip(result, expected, strict=True):
                if is_exact:
                    np.testing.assert_array_equal(one, theirs, err_msg=about)
                else:
                    near(one, theirs, about)
        assert statistics.compiled + statistics.loaded - before <= 3 * len(forms)


def expect_near(dtype: str, found: Any, expected: Any, about: str, *, sums: bool) -> None:
    """Equal but for the last digits of the type in which it is computed, and of sums of numbers below 1."""
    info = np.finfo(dtype)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(
            found, expected, rtol=TOLERANCE[dtype], atol=float(info.eps if sums else info.tiny), err_msg=about
        )


@pytest.mark.walk
@pytest.mark.parametrize("name", operators())
def test_all_other_functions_say_why_they_have_no_form(name: str) -> None:
    prop = sample_property(registry.get(name), {})
    sample = Sample(prop, "float32")
    reasons = set()
    for part in prop.list_parts():
        form, _ = form_of(KernelCall(prop, *sample.call), part)
        if not isinstance(form, ScalarForm):
            assert form.line, form  # type: ignore[attr-defined]
            reasons.add(str(form))
    known = {**WITHOUT, "_linalg_gemm": PRODUCT}.get(name)
    assert bool(reasons) == (known is not None)
    assert all(known in reason for reason in reasons if known is not None)
