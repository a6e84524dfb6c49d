"""What an operator is: contracts only, over plain arrays."""

from typing import Any as _Any

from operad import faces as _faces
from operad.operator.choice import Choice as Choice
from operad.operator.choice import choose as choose
from operad.operator.choice import choose_among as choose_among
from operad.operator.chosen import Chosen as Chosen
from operad.operator.chosen import Preparation as Preparation
from operad.operator.context import OpContext as OpContext
from operad.operator.cost import Cost as Cost
from operad.operator.cost import as_cost as as_cost
from operad.operator.cost import gradient_cost as gradient_cost
from operad.operator.cost import moved_bytes as moved_bytes
from operad.operator.cost import own_cost as own_cost
from operad.operator.counts import MOST_TENSORS as MOST_TENSORS
from operad.operator.counts import check_argument_counts as check_argument_counts
from operad.operator.explanation import PartKernel as PartKernel
from operad.operator.explanation import arrays_in_words as arrays_in_words
from operad.operator.explanation import explained as explained
from operad.operator.form import Axes as Axes
from operad.operator.form import Instruction as Instruction
from operad.operator.form import Result as Result
from operad.operator.form import ScalarForm as ScalarForm
from operad.operator.form import function_of_elements as function_of_elements
from operad.operator.form import placed as placed
from operad.operator.gradient import Gradient as Gradient
from operad.operator.kernel import FORWARD as FORWARD
from operad.operator.kernel import Candidate as Candidate
from operad.operator.kernel import Kernel as Kernel
from operad.operator.kernel import KernelCall as KernelCall
from operad.operator.kernel import Prepared as Prepared
from operad.operator.kernel import candidates as candidates
from operad.operator.kernel import ranked as ranked
from operad.operator.kernel import select_kernel as select_kernel
from operad.operator.operator import Array as Array
from operad.operator.operator import Arrays as Arrays
from operad.operator.operator import Operator as Operator
from operad.operator.operator import Requests as Requests
from operad.operator.operator import SomeArrays as SomeArrays
from operad.operator.params import REQUIRED as REQUIRED
from operad.operator.params import Param as Param
from operad.operator.params import ParamSet as ParamSet
from operad.operator.params import param as param
from operad.operator.property import BackwardEntry as BackwardEntry
from operad.operator.property import InferredShapes as InferredShapes
from operad.operator.property import InferredTypes as InferredTypes
from operad.operator.property import OperatorProperty as OperatorProperty
from operad.operator.property import is_computed_by_kernels as is_computed_by_kernels
from operad.operator.rates import ARITHMETIC as ARITHMETIC
from operad.operator.rates import DEFAULTS as DEFAULTS
from operad.operator.rates import FORMAT as FORMAT
from operad.operator.rates import Correction as Correction
from operad.operator.rates import Rates as Rates
from operad.operator.rates import forget_rates as forget_rates
from operad.operator.rates import function_cost as function_cost
from operad.operator.rates import machine as machine
from operad.operator.rates import rates as rates
from operad.operator.rates import read_rates as read_rates
from operad.operator.rates import tuned_path as tuned_path
from operad.operator.req import OpReq as OpReq
from operad.operator.req import assign as assign
from operad.operator.req import transfer as transfer
from operad.operator.shapes import PartialShape as PartialShape
from operad.operator.shapes import Shape as Shape
from operad.operator.shapes import given_shape as given_shape
from operad.operator.shapes import is_known as is_known
from operad.operator.shapes import is_np_shape as is_np_shape
from operad.operator.shapes import np_shape as np_shape
from operad.operator.shapes import set_np_shape as set_np_shape
from operad.operator.shapes import unify_shapes as unify_shapes
from operad.operator.template import CallTemplate as CallTemplate
from operad.operator.template import Place as Place
from operad.operator.template import filled as filled


def __getattr__(name: str) -> _Any:
    """What plugins add, such as `CustomOp`; the package knows them, as it knows what they add to it."""
    return _faces.on_face("operator", name)
