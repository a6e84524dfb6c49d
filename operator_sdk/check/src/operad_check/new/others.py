"""Operators of other distributions, as the template of a kernel needs to know them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, final

from operad import registry
from operad.cli.calls import call_of
from operad.cli.samples import sample_property, sample_shapes
from operad.errors import OperadError
from operad.op import is_computed_by_kernels
from operad_check.new.requests import OF_OTHERS, OperatorRequest, ScaffoldError


@final
@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of an operator.

    Attributes:
        name: As its functions name it.
        is_optional: Whether some parameters leave it out.
    """

    name: str
    is_optional: bool


@final
@dataclass(frozen=True, slots=True)
class OtherOperator:
    """An installed operator.

    Attributes:
        distribution: Who provides it.
        requirement: That distribution in the range that its version is of.
        arguments: What it takes.
        outputs: Names of what it computes.
        params: Parameters of a sample call, as text of Python.
        present: Names of the arguments that the sample call has.
        shapes: Their shapes, as text of Python.
    """

    distribution: str
    requirement: str
    arguments: list[Argument]
    outputs: list[str]
    params: dict[str, str]
    present: list[str]
    shapes: list[str]


def described(requests: Iterable[OperatorRequest]) -> dict[str, OtherOperator]:
    """The operators of other distributions among some requests, by name; loads each.

    Raises:
        ScaffoldError: One is not installed, or takes what the template's kernel cannot.
    """
    return {one.name: _described(one.name) for one in requests if one.kind in OF_OTHERS}


def _described(name: str) -> OtherOperator:
    try:
        op = registry.get(name)
        form = call_of(op)
        prop = sample_property(op, {})
        shapes = sample_shapes(prop)
    except OperadError as error:
        raise ScaffoldError(f"kernel for operator {name!r}: {error}") from error
    if not is_computed_by_kernels(prop) or form.takes_any_number or prop.list_auxiliary_states():
        raise ScaffoldError(
            f"kernel for operator {name!r}: it has states, any number of arguments, or no kernels; "
            "write one by hand, as docs/authoring/kernels.md shows, or name another operator"
        )
    if not shapes:
        raise ScaffoldError(f"kernel for operator {name!r}: found no shapes of arguments that it takes")
    distribution = registry.operators()[name].distribution
    given = {key: getattr(prop, key) for key in op.params}
    return OtherOperator(
        distribution,
        f"{distribution}{_range(version(distribution))}",
        [Argument(tensor.name, tensor.is_optional) for tensor in form.tensors],
        list(prop.list_outputs()),
        {key: _text(value) for key, value in given.items() if value != op.params[key].default},
        list(prop.list_arguments()),
        [repr(shape) for shape in shapes],
    )


def _range(installed: str) -> str:
    """The range of versions that keep to the interface: one minor version before 1.0, then a major one."""
    major, minor = map(int, [*re.findall(r"\d+", installed), "0"][:2])
    return f">={major}.{minor},<{major + 1 if major else f'0.{minor + 1}'}"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
