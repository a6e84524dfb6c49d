"""An operator as its own distribution computes it."""

from __future__ import annotations

from collections.abc import Sequence

from operad.context import Context
from operad.dtypes import DType
from operad.operator import KernelCall, Operator, OperatorProperty, Shape, choose_among, ranked


def own_operator(
    prop: OperatorProperty, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
) -> Operator:
    """The operator by the kernels of its own distribution, to which a kernel of another may hand a call on.

    Args:
        prop: The operator; what follows is what a kernel's class is made with.

    Raises:
        OperadError: None of its own kernels applies.
    """
    call = KernelCall(prop, ctx, in_shapes, in_types, is_bare=True)
    own = [one for one in ranked(call) if one.distribution is None and one.rejection(call) is None]
    return choose_among(call, own).operator()
