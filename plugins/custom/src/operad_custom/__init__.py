"""Operators that a program writes in Python and registers by name."""

from operad_custom.custom import Custom as Custom
from operad_custom.function import Function as Function
from operad_custom.legacy import NDArrayOp as NDArrayOp
from operad_custom.legacy import NumpyOp as NumpyOp
from operad_custom.legacy import PythonOp as PythonOp
from operad_custom.registered import register as register
from operad_custom.user import CustomOp as CustomOp
from operad_custom.user import CustomOpProp as CustomOpProp
