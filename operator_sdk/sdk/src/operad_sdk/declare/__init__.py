"""Declarations of operators, and their binding: one vocabulary, one binder."""

from operad_sdk.declare.decorators import BINARY as BINARY
from operad_sdk.declare.decorators import BROADCAST as BROADCAST
from operad_sdk.declare.decorators import UNARY as UNARY
from operad_sdk.declare.decorators import Options as Options
from operad_sdk.declare.decorators import binary as binary
from operad_sdk.declare.decorators import operator as operator
from operad_sdk.declare.decorators import unary as unary
from operad_sdk.declare.kernel_arrays import own_operator as own_operator
from operad_sdk.declare.kernels import kernel as kernel
from operad_sdk.declare.marks import gradient as gradient
from operad_sdk.declare.marks import lock_cost_limit as lock_cost_limit
from operad_sdk.declare.property import OperatorProperty as OperatorProperty
from operad_sdk.declare.scalar import Scalar as Scalar
from operad_sdk.declare.table import define as define
from operad_sdk.declare.targets import wrapped as wrapped
from operad_sdk.shapes.expressions import broadcast as broadcast
from operad_sdk.shapes.expressions import reduced as reduced
from operad_sdk.shapes.expressions import reduced_axes as reduced_axes
