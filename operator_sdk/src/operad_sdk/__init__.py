"""Write an operad operator: decorators, a shape language, kernels and scalar mappers."""

from operad.operator import Array as Array
from operad.operator import OpContext as OpContext
from operad.operator import Operator as Operator
from operad.operator import OpReq as OpReq
from operad.operator import PartialShape as PartialShape
from operad.operator import Shape as Shape
from operad.operator import param as param
from operad.resource import ResourceRequest as ResourceRequest
from operad_sdk.errors import DeclarationError as DeclarationError
from operad_sdk.errors import SpecError as SpecError
from operad_sdk.kernels import kernel as kernel
from operad_sdk.methods import gradient as gradient
from operad_sdk.outputs import Output as Output
from operad_sdk.property import OperatorProperty as OperatorProperty
from operad_sdk.property import operator as operator
from operad_sdk.simple import Scalar as Scalar
from operad_sdk.simple import binary as binary
from operad_sdk.simple import from_ufunc as from_ufunc
from operad_sdk.simple import unary as unary
from operad_sdk.simple_function import SimpleFunction as SimpleFunction
