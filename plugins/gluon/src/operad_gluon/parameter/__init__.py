"""Parameters of blocks, and dictionaries of them."""

from operad_gluon.errors import DeferredInitializationError as DeferredInitializationError
from operad_gluon.parameter.constant import Constant as Constant
from operad_gluon.parameter.parameter import Parameter as Parameter
from operad_gluon.parameter.parameter import tensor_types as tensor_types
from operad_gluon.parameter.parameter_dict import ParameterDict as ParameterDict
from operad_gluon.parameter.shapes import shape_is_known as shape_is_known
