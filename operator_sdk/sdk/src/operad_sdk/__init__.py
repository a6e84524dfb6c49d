"""Write an operad operator: decorators, a shape language, kernels and scalar mappers.

`docs/authoring/words.md` has a line and an example for each of these words.
"""

from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING
from typing import Any as _Any

from operad.dtypes import DType as DType
from operad.dtypes import as_dtype as as_dtype
from operad.errors import DTypeError as DTypeError
from operad.errors import OperadError as OperadError
from operad.errors import ParamError as ParamError
from operad.errors import ShapeError as ShapeError
from operad.first_use import cached_property as cached_property
from operad.first_use import import_module as _import_module
from operad.operator import Array as Array
from operad.operator import Cost as Cost
from operad.operator import InferredShapes as InferredShapes
from operad.operator import InferredTypes as InferredTypes
from operad.operator import KernelCall as KernelCall
from operad.operator import OpContext as OpContext
from operad.operator import Operator as Operator
from operad.operator import OpReq as OpReq
from operad.operator import PartialShape as PartialShape
from operad.operator import Prepared as Prepared
from operad.operator import Shape as Shape
from operad.operator import moved_bytes as moved_bytes
from operad.operator import param as param
from operad.operator import product_cost as product_cost
from operad.operator import unify_shapes as unify_shapes
from operad.resource import ResourceRequest as ResourceRequest
from operad_sdk.contract import Contract as Contract
from operad_sdk.contract import Distribution as Distribution
from operad_sdk.contract import ResultTypes as ResultTypes
from operad_sdk.contract import Tolerance as Tolerance
from operad_sdk.declare import BINARY as BINARY
from operad_sdk.declare import BROADCAST as BROADCAST
from operad_sdk.declare import UNARY as UNARY
from operad_sdk.declare import OperatorProperty as OperatorProperty
from operad_sdk.declare import Options as Options
from operad_sdk.declare import Scalar as Scalar
from operad_sdk.declare import binary as binary
from operad_sdk.declare import broadcast as broadcast
from operad_sdk.declare import define as define
from operad_sdk.declare import gradient as gradient
from operad_sdk.declare import kernel as kernel
from operad_sdk.declare import lock_cost_limit as lock_cost_limit
from operad_sdk.declare import operator as operator
from operad_sdk.declare import own_operator as own_operator
from operad_sdk.declare import reduced as reduced
from operad_sdk.declare import reduced_axes as reduced_axes
from operad_sdk.declare import unary as unary
from operad_sdk.declare import wrapped as wrapped
from operad_sdk.domains import Distinct as Distinct
from operad_sdk.domains import Domain as Domain
from operad_sdk.domains import Drawn as Drawn
from operad_sdk.domains import Index as Index
from operad_sdk.domains import Integers as Integers
from operad_sdk.domains import OneHot as OneHot
from operad_sdk.domains import PositiveDefinite as PositiveDefinite
from operad_sdk.domains import Probabilities as Probabilities
from operad_sdk.domains import Real as Real
from operad_sdk.domains import Shapes as Shapes
from operad_sdk.domains import positive as positive
from operad_sdk.domains import unit_interval as unit_interval
from operad_sdk.errors import DeclarationError as DeclarationError
from operad_sdk.errors import SpecError as SpecError
from operad_sdk.loops import CompiledLoops as CompiledLoops
from operad_sdk.loops import loop as loop
from operad_sdk.mapper import mapper as mapper
from operad_sdk.mapper.words import all_words as _mapper_words
from operad_sdk.mapper.words import word as _word
from operad_sdk.sums import blocked_cumsum as blocked_cumsum
from operad_sdk.sums import blocked_sum as blocked_sum

if TYPE_CHECKING:
    from operad_sdk.declare.mapped import from_mapper as from_mapper
    from operad_sdk.mapper import *  # noqa: F403 - all words of mappers are words here


def __getattr__(name: str) -> _Any:
    """A word of mappers, whose modules are imported when one of them is first named."""
    if name == "from_mapper":
        return _import_module("operad_sdk.declare.mapped").from_mapper
    if name == "__all__":  # for `import *`, which names all of them
        others = {key for key, value in globals().items() if isinstance(value, _ModuleType)}
        others |= {"TYPE_CHECKING"}
        return [word for word in __dir__() if word not in others and not word.startswith("_")]
    return _word(__name__, name)


def __dir__() -> list[str]:
    """All words."""
    return sorted({*globals(), *_mapper_words(), "from_mapper"})
