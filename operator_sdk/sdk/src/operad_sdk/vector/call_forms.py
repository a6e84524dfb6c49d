"""The forms of the parts of a call, with their costs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from operad.dtypes import DType
from operad.operator import Cost, KernelCall, ScalarForm
from operad_sdk.declare.scalar_form import MODES, in_mode
from operad_sdk.vector.compiled import compiled, walk_of
from operad_sdk.vector.cost_rule import Estimates, estimates
from operad_sdk.vector.form_kernels import cost_of_arrays
from operad_sdk.vector.joined import Joined, Specs, joined_kernel
from operad_sdk.vector.primitives import NoVectorCodeError
from operad_sdk.vector.signature import Signature, form_of


class CallForms(NamedTuple):
    """The forms of some parts in one mode, or in both, each with its arrays."""

    forms: list[ScalarForm]
    signatures: list[Signature]

    @property
    def cost(self) -> Cost:
        """Instructions of the elements, and one pass over the arrays of each kernel."""
        if self.whole is not None:
            return cost_of_arrays(*self.whole)
        whole = Cost()
        for form, signature in zip(self.forms, self.signatures, strict=True):
            whole = whole.plus(cost_of_arrays(compiled(form, signature.dtype), signature.specs))
        return whole

    @property
    def operations(self) -> set[str]:
        """Names of the instructions."""
        return {step.op for form in self.forms for step in form.instructions}

    @property
    def whole(self) -> Joined | None:
        """All forms as one; None where there is one alone, or none can be."""
        specs = tuple(one.specs for one in self.signatures)
        return joined_kernel(tuple(self.forms), specs, self.signatures[0].dtype) if len(specs) > 1 else None

    def estimates(self, returned: bool) -> Estimates:
        """Times of both ways."""
        both = Estimates()
        if self.whole is not None:
            return estimates(*self.whole, returned)
        for form, own in zip(self.forms, self.signatures, strict=True):
            both = both.plus(estimates(compiled(form, own.dtype), own.specs, returned))
        return both


def forms_of(parts: Sequence[str], call: KernelCall) -> list[CallForms] | str:
    """The forms of some parts, in each mode; or why a part has none, or its form no kernel."""
    found = _forms_in(call, parts)
    if isinstance(found, CallForms):
        return [found]
    if found != MODES:
        return found
    both = [_forms_in(one, parts) for one in in_both(call)]
    reason = next((one for one in both if isinstance(one, str)), None)
    return [one for one in both if isinstance(one, CallForms)] if reason is None else reason


def _forms_in(call: KernelCall, parts: Sequence[str]) -> CallForms | str:
    """The forms of some parts in the modes of a call."""
    forms, signatures = [], []
    for part in parts:
        form, _ = form_of(call, part)
        if isinstance(form, str):
            return form
        signature = Signature(call, part, form)
        if (reason := _obstacle(form, signature.dtype, signature.specs)) is not None:
            return reason
        forms.append(form)
        signatures.append(signature)
    return CallForms(forms, signatures)


@lru_cache(maxsize=4096)
def _obstacle(form: ScalarForm, dtype: DType, specs: Specs) -> str | None:
    """Why there is no vector code; None where there is."""
    try:
        walk_of(compiled(form, dtype), specs)
    except NoVectorCodeError as error:
        return str(error)
    return None


def in_both(call: KernelCall) -> tuple[KernelCall, KernelCall]:
    """The call in training and in prediction."""
    given = call.ctx, call.in_shapes, call.in_types
    return KernelCall(in_mode(call.prop, True), *given), KernelCall(in_mode(call.prop, False), *given)
