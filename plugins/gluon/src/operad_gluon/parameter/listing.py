"""Parameters in the order in which an optimizer numbers them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from operad_gluon.errors import BlockValueError
from operad_gluon.parameter.parameter import Parameter
from operad_gluon.parameter.parameter_dict import ParameterDict


def listed(params: Any) -> list[Parameter]:
    """Parameters as a list, in the order in which they were made.

    MXNet's order, by name, changes with the numbers in names: `dense10_weight` comes before `dense9_weight`.
    Then states in files, which have numbers, would be those of other weights.

    Raises:
        BlockValueError: They are something else.
    """
    if isinstance(params, (dict, ParameterDict)):
        params = list(params.values())
    if not isinstance(params, Sequence) or isinstance(params, str):
        raise BlockValueError(
            f"First argument must be a list or dict of Parameters, got {type(params)}; pass "
            "net.collect_params()"
        )
    for param in params:
        if not isinstance(param, Parameter):
            raise BlockValueError(
                f"First argument must be a list or dict of Parameters, got list of {type(param)}; pass "
                "net.collect_params()"
            )
    return list(params)
