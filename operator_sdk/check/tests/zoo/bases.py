"""Bases of the zoo's operators: the element types that they accept, and the type they compute in."""

from __future__ import annotations

from operad_sdk import OperatorProperty


class Floating(OperatorProperty):
    """Any floating-point type, in which it computes."""

    accepts = "floating"


class InFloat32(Floating):
    """Any floating-point type; half precision is computed in float32."""

    compute_dtype = "float32"


class InFloat64(Floating):
    """Any floating-point type; half precision is computed in float64."""

    compute_dtype = "float64"
