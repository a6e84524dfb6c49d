"""Derivatives of mappers: their slopes, which are mappers too."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from operad.operator import ScalarForm
from operad_sdk.differentiate.dispatch import METHODS
from operad_sdk.differentiate.tracing import Primitive, Traced
from operad_sdk.mapper.core import Mapper
from operad_sdk.mapper.slope import slope_form


@lru_cache(maxsize=1024)
def _primitive(form: ScalarForm) -> Primitive:
    # dy/dx_i is a mapper of the same arguments.
    slopes = [
        lambda g, y, *values, position=position: g * _slope(form, position).map(*values)
        for position in range(len(form.inputs))
    ]
    return Primitive(Mapper(form).map, *slopes, fits=True, form=form)


@lru_cache(maxsize=4096)
def _slope(form: ScalarForm, position: int) -> Mapper:
    return Mapper(slope_form(form, position))


def _mapped(array: Any, form: ScalarForm, args: Sequence[Any], out: Any) -> Any:
    """Apply a form to arrays of which one is traced."""
    result = _primitive(form)(*args)
    if out is None:
        return result
    assert isinstance(out, Traced), "targets of traced functions are traced"
    out.write(result)
    return out


METHODS["__array_mapper__"] = _mapped
