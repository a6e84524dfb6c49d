"""Exporters of operators, `operad.export.torch` and `operad.export.jax`, and packages that they fill.

What they wrap is here too: an operator as functions of plain arrays, and its signature.
"""

from operad_export.doors import jax as jax
from operad_export.doors import register_jax as register_jax
from operad_export.doors import register_torch as register_torch
from operad_export.doors import torch as torch
from operad_export.plain import PlainOperator as PlainOperator
from operad_export.signature import OperatorSignature as OperatorSignature
from operad_export.signature import Tensor as Tensor
from operad_export.signature import signature_of as signature_of
