"""Vector code: scalar forms, and kernels written by hand, as machine code for this processor.

LLVM compiles it, through llvmlite (`operad-sdk[vector]`). Nothing here is imported before a kernel is wanted.
"""

from operad_sdk.addresses import data_address as data_address
from operad_sdk.form_kernels import InVectorCode as InVectorCode
from operad_sdk.vector.array_calls import array_call as array_call
from operad_sdk.vector.array_calls import strided_call as strided_call
from operad_sdk.vector.axes import lying as lying
from operad_sdk.vector.bounds import words_address as words_address
from operad_sdk.vector.call_forms import forms_of as forms_of
from operad_sdk.vector.compiled import CompiledForm as CompiledForm
from operad_sdk.vector.compiled import compiled as compiled
from operad_sdk.vector.form_calls import divided_call as divided_call
from operad_sdk.vector.kept_loops import KeptLoops as KeptLoops
from operad_sdk.vector.layout import BoundKernel as BoundKernel
from operad_sdk.vector.layout import Kernel as Kernel
from operad_sdk.vector.layout import TableLayout as TableLayout
from operad_sdk.vector.machine import has_llvm as has_llvm
from operad_sdk.vector.machine import host as host
from operad_sdk.vector.machine import loaded as loaded
from operad_sdk.vector.machine import reason_against as reason_against
from operad_sdk.vector.primitives import NoVectorCodeError as NoVectorCodeError
from operad_sdk.vector.steps import LoopPhases as LoopPhases
from operad_sdk.vector.steps import StepArray as StepArray
from operad_sdk.vector.steps import StepCall as StepCall
from operad_sdk.vector.steps import StepLoop as StepLoop
from operad_sdk.vector.steps import form_call as form_call
from operad_sdk.vector.steps import product_call as product_call
from operad_sdk.vector.steps import run_steps as run_steps
from operad_sdk.vector.steps import single_call as single_call
from operad_sdk.vector.team import has_team as has_team
from operad_sdk.vector.team import team as team
from operad_sdk.vector.tiles import PackedMatrix as PackedMatrix
from operad_sdk.vector.tiles import pack as pack
from operad_sdk.vector.tiles import packed_elements as packed_elements
from operad_sdk.vector.tiles import product_layout as product_layout
from operad_sdk.vector.tiles import tiled_product as tiled_product
from operad_sdk.vector.words import Words as Words
from operad_sdk.vector.writer import KERNEL_PARAMETERS as KERNEL_PARAMETERS
from operad_sdk.vector.writer import LANES as LANES
from operad_sdk.vector.writer import NAME as NAME
from operad_sdk.vector.writer import Values as Values
from operad_sdk.vector.writer import Writer as Writer
